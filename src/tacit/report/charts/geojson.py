"""Areas from GeoJSON: the polygons of each value, found by the
property that names most of the values.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tacit.errors import DataError, InputError

Ring = np.ndarray[Any, np.dtype[np.float64]]  # corners: longitude and latitude, or pixels
Areas = Mapping[
    str, Sequence[Sequence[Ring]]
]  # the polygons of a value, each an outline and its holes


def read_areas(path: Path, values: Sequence[Any]) -> dict[str, list[list[Ring]]]:
    """The areas of values from a GeoJSON file, by the property (or
    the id) that names most of them.
    """
    features = read_features(path)
    known = {str(value) for value in values}
    names = {"id": [feature.get("id") for feature in features]}
    for key in dict.fromkeys(
        key for feature in features for key in feature.get("properties") or {}
    ):
        names[f"properties.{key}"] = [
            (feature.get("properties") or {}).get(key) for feature in features
        ]
    best = max(names, key=lambda key: len(known & {str(one) for one in names[key]}))
    found: dict[str, list[list[Ring]]] = {}
    for name, feature in zip(names[best], features, strict=True):
        if str(name) in known:
            found.setdefault(str(name), []).extend(polygons_of(feature.get("geometry"), path))
    if not found:
        raise DataError(
            f"no area of {path} is named like a value: none of its properties "
            f"{', '.join(sorted(names))} matches.",
            hint="Use a GeoJSON file whose features have the values as a property or as their id.",
        )
    return found


def read_features(path: Path) -> list[dict[str, Any]]:
    """The features of a GeoJSON file."""
    try:
        document = json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {(error.strerror or str(error)).lower()}.",
            hint="Name a GeoJSON file.",
        ) from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DataError(
            f"{path} is not JSON: {error}.",
            hint="Export the areas as GeoJSON (WGS 84 longitude and latitude).",
        ) from None
    features = document.get("features") if isinstance(document, dict) else None
    if (
        not isinstance(features, list)
        or not all(isinstance(one, dict) for one in features)
        or not features
    ):
        raise DataError(
            f"{path} has no features.",
            hint='GeoJSON areas are {"type": "FeatureCollection", "features": [...]}.',
        )
    return features


def polygons_of(geometry: Any, path: Path) -> list[list[Ring]]:
    """The polygons of a geometry; each an outline and its holes."""
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    if kind not in ("Polygon", "MultiPolygon"):
        return []
    try:
        parts = [geometry["coordinates"]] if kind == "Polygon" else geometry["coordinates"]
        found = [
            [np.array([corner[:2] for corner in ring], dtype=np.float64) for ring in part]
            for part in parts
        ]
        bad = any(
            ring.ndim != 2 or ring.shape[1] != 2 or not (np.abs(ring) <= [360, 90]).all()
            for part in found
            for ring in part
        )
    except (TypeError, ValueError, KeyError):
        bad = True
    if bad:
        raise DataError(
            f"a {kind} of {path} has corners that are no longitude and latitude.",
            hint="Export the areas as GeoJSON in WGS 84 degrees.",
        )
    return [
        [ring[:-1] if len(ring) > 1 and (ring[0] == ring[-1]).all() else ring for ring in part]
        for part in found
        if part and len(part[0]) > 2
    ]
