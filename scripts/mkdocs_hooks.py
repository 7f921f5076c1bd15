# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hooks of mkdocs.yml: pages of elements in the navigation, and links to files outside of docs/."""
import pathlib
import re

from mkdocs.exceptions import PluginError

LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s#]+)(?:#[^)\s]*)?\)")


def on_config(config):
    """Adds the page of each element to the navigation: mkdocs.yml does not list them."""
    pages = sorted(pathlib.Path(config.docs_dir, "elements").glob("*.md"))
    section = next(entry["Elements"] for entry in config.nav if "Elements" in entry)
    section[1:1] = [{page.stem: f"elements/{page.name}"} for page in pages if page.stem != "index"]
    return config


def on_page_markdown(markdown, page, config, **_):
    """Replaces links to source files by their paths: forges can follow them, but the site has no
    sources."""
    docs = pathlib.Path(config.docs_dir).resolve()
    root = pathlib.Path(config.config_file_path).resolve().parent

    def path_for(link):
        text, target = link.groups()
        file = (docs / page.file.src_uri).parent.joinpath(target).resolve()
        if re.match(r"[a-z]+:", target) or file.is_relative_to(docs):
            return link.group()
        if not file.is_relative_to(root) or not file.exists():
            raise PluginError(f"{page.file.src_uri}: {target} does not exist")
        path = file.relative_to(root)
        return f"`{path}`" if text in (str(path), path.name) else f"{text} (`{path}`)"

    return LINK.sub(path_for, markdown)
