#!/bin/sh
# Builds the image of the Docker backend.  Usage: build.sh [IMAGE] [dockerfile|debootstrap]
#
# Where the base image can be pulled, `docker build` does it.  Elsewhere (as root, on Debian or a
# relative) the same is made from a minimal Debian: needs debootstrap and pip, and no registry.
# MIRROR names another Debian mirror, SUITE another release, PYTHON the interpreter that has pip.
set -eu

image=${1:-issuewright-sandbox:1}
here=$(cd "$(dirname "$0")" && pwd)
base=$(sed -n 's/^FROM //p' "$here/Dockerfile")

base_is_reachable() {
    docker image inspect "$base" >/dev/null 2>&1 || timeout 300 docker pull "$base"
}

from_debootstrap() {
    suite=${SUITE:-bookworm}
    mirror=${MIRROR:-$(apt-get indextargets --format '$(SITE)' "Codename: $suite" | head -n 1)}
    root=$(mktemp -d)
    trap 'rm -rf "$root"' EXIT
    debootstrap --variant=minbase --include=python3 "$suite" "$root" "$mirror"
    version=$(chroot "$root" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    "${PYTHON:-python3}" -m pip install --only-binary=:all: --python-version "$version" \
        --target "$root/usr/local/lib/python$version/dist-packages" --requirement "$here/requirements.txt"
    ln -s /usr/bin/python3 "$root/usr/local/bin/python"
    printf '#!/bin/sh\nexec python3 -P -m pytest "$@"\n' >"$root/usr/local/bin/pytest"
    chmod 755 "$root/usr/local/bin/pytest"
    rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/*
    tar -C "$root" -c . | docker import --change 'USER 65534:65534' --change 'WORKDIR /work' - "$image"
}

case "${2:-auto}" in
    dockerfile) docker build --tag "$image" "$here" ;;
    debootstrap) from_debootstrap ;;
    auto) if base_is_reachable; then docker build --tag "$image" "$here"; else from_debootstrap; fi ;;
    *) echo "build.sh: unknown way '$2'; use dockerfile or debootstrap" >&2; exit 2 ;;
esac
