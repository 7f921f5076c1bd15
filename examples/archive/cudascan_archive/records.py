# SPDX-License-Identifier: LGPL-2.1-or-later
"""The records, as Parquet: `records/pages/NAME.parquet` has a row for each page of a volume and
`records/volumes/NAME.parquet` one row for the volume. Each folder is one table for pyarrow, DuckDB,
Spark and the like."""
import json

import pyarrow as pa
import pyarrow.parquet as pq

PAGES = pa.schema([
    ("volume", pa.string()),
    ("input", pa.string()),  # relative to the input of the volume
    ("page", pa.int32()),  # in the file, from 1 on; null if the file could not be read
    ("part", pa.string()),  # "", or left or right of an open book
    ("output", pa.string()),  # relative to the folder of the volume; "" if there is none
    ("bytes", pa.int64()),
    ("sha256", pa.string()),
    ("input_sha256", pa.string()),
    ("blank", pa.bool_()),
    ("also", pa.list_(pa.struct([("output", pa.string()), ("bytes", pa.int64()),
                                 ("sha256", pa.string())]))),
    ("problem", pa.string()),  # why there is no output, or what is missing in it; or ""
    ("measured", pa.string()),  # JSON, as in --stats of cudascan-scan; null if an earlier attempt
])                              # that was killed made the page

VOLUMES = pa.schema([
    ("volume", pa.string()),
    ("status", pa.string()),  # complete; incomplete = some pages failed; set aside = no pages
    ("reason", pa.string()),
    ("input", pa.string()),
    ("options", pa.string()),
    ("settings", pa.string()),  # all of cudascan-scan, with its defaults
    ("version", pa.string()),  # of cudascan-scan
    ("pages", pa.int32()),
    ("failed", pa.int32()),
    ("salvaged", pa.int32()),
    ("blank", pa.int32()),
    ("input_bytes", pa.int64()),
    ("bytes", pa.int64()),
    ("attempts", pa.int32()),
    ("seconds", pa.float64()),  # of the last attempt
    ("backend", pa.string()),
    ("gpu_busy", pa.float64()),  # share of the time, 0 to 1
    ("node", pa.string()),
    ("finished", pa.string()),  # ISO 8601, UTC
    ("run", pa.string()),  # of cudascan-archive that made it
    ("key", pa.string()),  # of the input's state, the options and the version
])


def pages_name(volume):
    return f"records/pages/{volume}.parquet"


def volume_name(volume):
    return f"records/volumes/{volume}.parquet"


def encoded(rows, schema):
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows, schema), sink)
    return sink.getvalue().to_pybytes()


def write_pages(place, facts, rows):
    """The pages, and the facts of their volume in the metadata of the file."""
    schema = PAGES.with_metadata({"volume": json.dumps(facts)})
    place.write(pages_name(facts["volume"]), encoded(rows, schema))


def read_pages(place, volume):
    """The facts and the rows of a volume, or (None, []) if there is no valid file."""
    data = place.read(pages_name(volume))
    if data is None:
        return None, []
    try:
        table = pq.read_table(pa.BufferReader(data))
        return json.loads(table.schema.metadata[b"volume"]), table.to_pylist()
    except (pa.ArrowException, KeyError, TypeError, ValueError):
        return None, []


def write_volume(place, facts):
    """Writes the row of a volume, unless it is there already."""
    data = encoded([facts], VOLUMES)
    if place.read(volume_name(facts["volume"])) != data:
        place.write(volume_name(facts["volume"]), data)


def files_of(rows):
    """{name: (bytes, SHA-256)} of all files of these pages."""
    files = {}
    for row in rows:
        for file in (row, *(row["also"] or ())):
            if file["output"]:
                files[file["output"]] = (file["bytes"], file["sha256"])
    return files
