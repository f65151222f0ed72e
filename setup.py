"""The compiled parts. All else that a build has to know stands in ``pyproject.toml``."""

import os
import runpy
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.editable_wheel import editable_wheel
from setuptools.errors import CCompilerError, ExecError, PlatformError

VERSION = runpy.run_path("tabprotect/version.py")

WHAT_TO_INSTALL = {
    "linux": "a C compiler and Python's headers (Debian, Ubuntu: apt-get install gcc libc6-dev python3-dev)",
    "darwin": "Apple's command line tools (xcode-select --install)",
    "win32": "the Build Tools for Visual Studio, with 'Desktop development with C++'",
}


class Build(build_ext):
    """Compile, or say what is needed for it: without its compiled parts the program is not whole."""

    def build_extension(self, ext: Extension) -> None:
        try:
            super().build_extension(ext)
        except (CCompilerError, ExecError, PlatformError) as error:
            needed = WHAT_TO_INSTALL.get(sys.platform, "a C compiler and Python's headers")
            sys.exit(
                f"error: {ext.name} could not be compiled ({error}).\n"
                f"error: tabprotect needs {needed} to be built. A wheel of it (packaging/wheels) needs neither."
            )


class Copy(build_py):
    """Copy the package, with the commit that it is built of, where that is known."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode and (commit := VERSION["commit"]()):
            place = os.path.join(self.build_lib, "tabprotect", "resources", "commit.txt")
            with open(place, "w", encoding="ascii") as file:
                file.write(f"{commit}\n")


class Editable(editable_wheel):
    """Name the checkout itself: editors and type checkers do not see through a finder of modules."""

    def finalize_options(self) -> None:
        self.distribution.packages.remove("tabprotect.resources")
        self.distribution.package_dir = {"": "."}
        super().finalize_options()


setup(
    cmdclass={"build_ext": Build, "build_py": Copy, "editable_wheel": Editable},
    ext_modules=[
        Extension(
            f"tabprotect/{kernel}".replace("/", "."),
            [f"tabprotect/{kernel}.c"],
            depends=["tabprotect/engine/extension.h"],
            py_limited_api=True,
        )
        for kernel in VERSION["KERNELS"]
    ],
)
