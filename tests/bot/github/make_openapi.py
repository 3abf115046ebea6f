"""Makes openapi.json.gz: GitHub's own description of the operations that the gateway uses.

npm pack @octokit/openapi@23.0.2 && tar xzf octokit-openapi-23.0.2.tgz
python -m tests.bot.github.make_openapi package
"""

import gzip
import json
import sys
from pathlib import Path
from typing import Any

from tests.bot.github.openapi import DESCRIPTION

OPERATIONS = frozenset(
    (
        "apps/create-from-manifest",
        "apps/create-installation-access-token",
        "apps/get-authenticated",
        "apps/get-installation",
        "apps/get-repo-installation",
        "apps/list-installations",
        "apps/list-webhook-deliveries",
        "apps/redeliver-webhook-delivery",
        "git/get-blob",
        "git/get-ref",
        "issues/add-labels",
        "issues/create-comment",
        "issues/get",
        "issues/list-comments",
        "issues/update-comment",
        "pulls/create",
        "pulls/get",
        "pulls/list",
        "pulls/update",
        "reactions/create-for-issue",
        "reactions/create-for-issue-comment",
        "repos/get",
        "repos/get-branch-rules",
        "repos/get-collaborator-permission-level",
        "repos/get-content",
        "users/get-authenticated",
        "users/get-by-username",
    )
)
_NOISE = frozenset(("description", "example", "examples", "title", "x-github-breaking-changes"))


def slim(full: dict[str, Any]) -> list[dict[str, Any]]:
    """Our operations with every reference replaced by what it names; of the answers only an example."""
    return [
        {
            "id": operation["operationId"],
            "verb": verb.upper(),
            "path": path,
            "parameters": [
                _parameter(resolve(full, each)) for each in [*common, *operation.get("parameters", [])]
            ],
            "body": _schema(full, operation.get("requestBody")),
            "answer": _answer(full, operation["responses"]),
        }
        for path, item in full["paths"].items()
        for common in [item.get("parameters", [])]
        for verb, operation in item.items()
        if isinstance(operation, dict) and operation.get("operationId") in OPERATIONS
    ]


def resolve(full: dict[str, Any], node: Any) -> Any:
    """A node without references."""
    if isinstance(node, list):
        return [resolve(full, each) for each in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target: Any = full
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        return resolve(full, target)
    return {key: resolve(full, value) for key, value in node.items()}


def _parameter(parameter: dict[str, Any]) -> dict[str, Any]:
    kept = {key: parameter.get(key) for key in ("name", "in", "required", "x-multi-segment")}
    return {**kept, "schema": _quiet(parameter["schema"])}


def _schema(full: dict[str, Any], body: Any) -> Any:
    return body and _quiet(resolve(full, body["content"]["application/json"]["schema"]))


def _answer(full: dict[str, Any], responses: dict[str, Any]) -> dict[str, Any]:
    status = min(code for code in responses if code.startswith("2"))
    content = resolve(full, responses[status]).get("content", {})
    examples = next((form.get("examples") or {} for form in content.values()), {})
    value = next((example["value"] for example in examples.values()), None)
    while isinstance(value, dict) and "value" in value:
        value = value["value"]  # some references name an example, not its value
    return {"status": int(status), "example": value}


def _quiet(node: Any) -> Any:
    if isinstance(node, list):
        return [_quiet(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        key: {name: _quiet(each) for name, each in value.items()} if key == "properties" else _quiet(value)
        for key, value in node.items()
        if key not in _NOISE
    }


def main(package: Path) -> None:
    """Read the unpacked npm package and write the slim description beside the tests."""
    full = json.loads((package / "generated" / "api.github.com.json").read_text(encoding="utf-8"))
    described = {
        "source": "npm @octokit/openapi " + json.loads((package / "package.json").read_text())["version"],
        "license": (package / "LICENSE").read_text(encoding="utf-8"),
        "operations": slim(full),
    }
    absent = OPERATIONS - {operation["id"] for operation in described["operations"]}
    if absent:
        raise SystemExit(f"not described: {', '.join(sorted(absent))}")
    DESCRIPTION.write_bytes(gzip.compress(json.dumps(described, indent=1).encode(), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
