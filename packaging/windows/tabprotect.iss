; Inno Setup 6: iscc /DVersion=0.2.0 packaging\windows\tabprotect.iss, after python packaging\build.py.
; For one user by default, without administrator's rights; /ALLUSERS for a house.
#ifndef Version
  #error "Say the version: iscc /DVersion=..."
#endif

[Setup]
AppId=org.tabprotect.Tabprotect
AppName=tabprotect
AppVersion={#Version}
AppPublisher=The tabprotect developers
LicenseFile=..\..\LICENSE
DefaultDirName={autopf}\tabprotect
DefaultGroupName=tabprotect
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog commandline
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
ChangesAssociations=yes
ChangesEnvironment=yes
Compression=lzma2
SolidCompression=yes
OutputDir=..\..\dist
OutputBaseFilename=tabprotect-{#Version}-setup
UninstallDisplayIcon={app}\tabprotect.exe

[Files]
Source: "..\..\dist\tabprotect\*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[Icons]
Name: "{group}\tabprotect"; Filename: "{app}\tabprotect.exe"; Parameters: "open"

[Registry]
Root: HKA; Subkey: "Software\Classes\.tabprotect"; ValueType: string; ValueData: "tabprotect.project"; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\tabprotect.project"; ValueType: string; ValueData: "tabprotect project"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\tabprotect.project\shell\open\command"; ValueType: string; ValueData: """{app}\tabprotect.exe"" open ""%1"""
