"""The site: ``make docs`` builds it, with warnings as errors."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import atkay

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "atkay"
author = copyright = "the atkay authors"
version = release = atkay.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "svg_math",
    "metric_pages",
    "markdown_source",
]
exclude_patterns = ["build"]
nitpicky = True
nitpick_ignore_regex = [  # types that have no page here: Python's, other libraries', and those of inner modules
    ("py:.*", r"(?!atkay\.[A-Za-z_]+$).*"),
]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 120

autodoc_mock_imports = ["torch", "triton"]  # not needed to read signatures, and large
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
warnings.filterwarnings("ignore", "Unknown section Conventions")  # it becomes a list in metric_pages.py
numpydoc_show_class_members = False
add_module_names = False
python_maximum_signature_line_length = 80
toc_object_entries = False

html_theme = "furo"
html_title = "atkay"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
