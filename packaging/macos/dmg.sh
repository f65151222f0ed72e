#!/bin/sh
# A disk image of the program for macOS, after python packaging/build.py: dist/tabprotect-VERSION.dmg.
# With IDENTITY (a "Developer ID Application" certificate) the program is signed, with PROFILE (a
# keychain profile of notarytool) the image is notarised; without them it opens by the context menu.
set -eu
cd "$(dirname "$0")/../.."
version=$(dist/tabprotect/tabprotect --version | sed 's/[^0-9.]//g')
app=dist/tabprotect.app
rm -rf "$app" && mkdir -p "$app/Contents/MacOS"
cp -R dist/tabprotect "$app/Contents/MacOS/program"
printf '#!/bin/sh\nexec "$(dirname "$0")/program/tabprotect" "${@:-open}"\n' > "$app/Contents/MacOS/tabprotect"
chmod 755 "$app/Contents/MacOS/tabprotect"
sed "s/@VERSION@/$version/" packaging/macos/Info.plist > "$app/Contents/Info.plist"
if [ -n "${IDENTITY:-}" ]; then
  codesign --deep --force --options runtime --timestamp --sign "$IDENTITY" "$app"
fi
image="dist/tabprotect-$version.dmg"
hdiutil create -ov -fs HFS+ -volname tabprotect -srcfolder "$app" "$image"
if [ -n "${PROFILE:-}" ]; then
  xcrun notarytool submit "$image" --keychain-profile "$PROFILE" --wait
  xcrun stapler staple "$image"
fi
