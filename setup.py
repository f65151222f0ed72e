"""The compiled parts. All else that a build has to know stands in ``pyproject.toml``."""

import runpy
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.editable_wheel import editable_wheel
from setuptools.errors import CCompilerError, ExecError, PlatformError

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


class Editable(editable_wheel):
    """Name the checkout itself: editors and type checkers do not see through a finder of modules."""

    def finalize_options(self) -> None:
        self.distribution.packages.remove("tabprotect.resources")
        self.distribution.package_dir = {"": "."}
        super().finalize_options()


setup(
    cmdclass={"build_ext": Build, "editable_wheel": Editable},
    ext_modules=[
        Extension(
            f"tabprotect/{kernel}".replace("/", "."),
            [f"tabprotect/{kernel}.c"],
            depends=["tabprotect/engine/extension.h"],
            py_limited_api=True,
        )
        for kernel in runpy.run_path("tabprotect/version.py")["KERNELS"]
    ],
)
