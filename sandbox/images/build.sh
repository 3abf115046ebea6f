#!/bin/sh
# Builds the image of the Docker backend, unless it is there and made from the same inputs.
# Usage: build.sh [IMAGE] [auto|dockerfile|debootstrap]     build.sh --inputs   (prints the inputs' hash)
#
# Where the base image can be pulled, `docker build` does it. Elsewhere (as root, on Debian or a relative) the
# same packages are put on a minimal Debian: needs debootstrap and pip, and no registry.
# MIRROR names another Debian mirror, PYTHON the interpreter that has pip.
#
# After a change of requirements.txt:
#   uv pip compile --generate-hashes --no-header --no-annotate --no-emit-index-url --python-version 3.11 \
#     --python-platform linux --only-binary :all: --output-file requirements.lock requirements.txt
set -eu

here=$(cd "$(dirname "$0")" && pwd)
base=$(sed -n 's/^FROM //p' "$here/Dockerfile")
label=issuewright.inputs # this and the next line as in ../docker/image_inputs.py
inputs=$(cd "$here" && cat Dockerfile build.sh requirements.lock _issuewright.pth ../site_hook.py | sha256sum)
inputs=${inputs%% *}

is_current() {
    [ "$(docker image inspect --format "{{index .Config.Labels \"$label\"}}" "$image" 2>/dev/null)" = "$inputs" ]
}

base_is_reachable() {
    docker image inspect "$base" >/dev/null 2>&1 || timeout 300 docker pull "$base"
}

from_dockerfile() {
    docker build --tag "$image" --label "$label=$inputs" --file "$here/Dockerfile" "$here/.."
}

from_debootstrap() {
    suite=bookworm # has Python 3.11, as the Dockerfile
    mirror=${MIRROR:-$(apt-get indextargets --format '$(SITE)' "Codename: $suite" | head -n 1)}
    root=$(mktemp -d)
    trap 'rm -rf --one-file-system "$root"' EXIT
    debootstrap --variant=minbase --include=python3 "$suite" "$root" "$mirror"
    site=usr/local/lib/python3.11/dist-packages
    "${PYTHON:-python3}" -m pip install --no-compile --no-deps --only-binary :all: --require-hashes \
        --python-version 3.11 --target "$root/$site" --requirement "$here/requirements.lock"
    cp "$here/_issuewright.pth" "$root/$site/_issuewright.pth"
    cp "$here/../site_hook.py" "$root/$site/_issuewright_site.py"
    rm -rf "${root:?}/$site/bin"
    chroot "$root" python3 -m compileall -q -j 0 "/$site"
    ln -s /usr/bin/python3 "$root/usr/local/bin/python"
    printf '#!/bin/sh\nexec python3 -P -m pytest "$@"\n' >"$root/usr/local/bin/pytest"
    chmod 755 "$root/usr/local/bin/pytest"
    chmod -R a+rX "$root/usr/local"
    rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/doc/* "$root"/usr/share/locale/*
    tar -C "$root" -c . | docker import --change "LABEL $label=$inputs" \
        --change 'USER 65534:65534' --change 'WORKDIR /work' - "$image"
}

[ "${1:-}" != --inputs ] || { echo "$inputs"; exit; }
image=${1:-issuewright-sandbox:2}
if is_current; then
    echo "build.sh: $image is up to date"
    exit
fi
case "${2:-auto}" in
    dockerfile) from_dockerfile ;;
    debootstrap) from_debootstrap ;;
    auto) if base_is_reachable; then from_dockerfile; else from_debootstrap; fi ;;
    *) echo "build.sh: unknown way '$2'; use auto, dockerfile or debootstrap" >&2; exit 2 ;;
esac
