"""As much of JSON Schema (draft 2020-12) as raidsim's own schema uses; an unknown keyword is an error."""

from __future__ import annotations

import re
from typing import Any

_TYPES: dict[str, Any] = {"string": str, "object": dict, "array": list, "boolean": bool, "null": type(None)}
_NOTES = {"$schema", "$defs", "$id", "title", "description", "default", "examples"}


def fits(value: Any, schema: Any, root: dict[str, Any]) -> bool:
    """Whether a value is valid."""
    if isinstance(schema, bool):
        return schema
    return all(_keyword(value, word, schema, root) for word in schema if word not in _NOTES)


def _keyword(value: Any, word: str, schema: dict[str, Any], root: dict[str, Any]) -> bool:
    said = schema[word]
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    match word:
        case "$ref":
            return fits(value, root["$defs"][said.removeprefix("#/$defs/")], root)
        case "anyOf":
            return any(fits(value, inner, root) for inner in said)
        case "enum":
            return value in said
        case "const":
            return bool(value == said) and isinstance(value, bool) == isinstance(said, bool)
        case "type":
            if said in ("number", "integer"):
                return number and (said == "number" or float(value).is_integer())
            return isinstance(value, _TYPES[said])
        case "pattern":
            return not isinstance(value, str) or re.search(said, value) is not None
        case "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum":
            allowed = {
                "minimum": number and value >= said,
                "maximum": number and value <= said,
                "exclusiveMinimum": number and value > said,
                "exclusiveMaximum": number and value < said,
            }
            return not number or allowed[word]
        case "minItems" | "maxItems":
            return not isinstance(value, list) or (len(value) >= said if word == "minItems" else len(value) <= said)
        case "required":
            return not isinstance(value, dict) or all(key in value for key in said)
        case "items":
            return not isinstance(value, list) or all(fits(item, said, root) for item in value)
        case "prefixItems":
            return not isinstance(value, list) or all(fits(*pair, root) for pair in zip(value, said, strict=False))
        case "properties":
            return not isinstance(value, dict) or all(
                fits(value[key], inner, root) for key, inner in said.items() if key in value
            )
        case "patternProperties":
            return not isinstance(value, dict) or all(
                fits(item, inner, root)
                for pattern, inner in said.items()
                for key, item in value.items()
                if re.search(pattern, str(key))
            )
        case "additionalProperties":
            if not isinstance(value, dict):
                return True
            patterns = schema.get("patternProperties", {})
            rest = [
                item
                for key, item in value.items()
                if key not in schema.get("properties", {}) and not any(re.search(each, str(key)) for each in patterns)
            ]
            return all(fits(item, said, root) for item in rest)
    raise AssertionError(f"the keyword {word}")
