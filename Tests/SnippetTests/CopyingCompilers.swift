// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// Compilers that copy what the build of this repository has made of the same version of another package, and compile
/// everything else. Compiling other packages again would take more time than compiling the framework.
struct CopyingCompilers {
  /// The variables with which SwiftPM uses the compilers, as arguments of `env`.
  let environment: [String]

  /// Writes the compilers to a folder; unchanged ones keep their dates, so that nothing is compiled again.
  init(in folder: URL) throws {
    let project = SharedData.projectRoot.path
    environment = try [
      ("CC", "copying-clang", Self.clang), ("SWIFT_EXEC", "swiftc", Self.swiftc),
    ].map { variable, name, script in
      let file = folder.appendingPathComponent(name)
      let text = "#!/bin/bash\nproject=\(project)/.build\n\(script)"
      if (try? String(contentsOf: file, encoding: .utf8)) != text {
        try Data(text.utf8).write(to: file)
      }
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
      return "\(variable)=\(file.path)"
    }
  }

  /// Copies the objects of BoringSSL, whose version is in a file.
  private static let clang = #"""
    for argument; do
      case $argument in
        */CCryptoBoringSSL/*.c | */CCryptoBoringSSL/*.cc | */CCryptoBoringSSL/*.S) source=$argument ;;
        *.build/*.o) object=$argument ;;
        *.build/*.d) dependencies=$argument ;;
      esac
    done
    built=$project/debug/${object#*/release/}
    version=${source%/CCryptoBoringSSL/*}/CCryptoBoringSSL/hash.txt
    if [ -n "$source" ] && [ -n "$dependencies" ] && [ -s "$built" ] &&
      cmp -s "$version" "$project/checkouts/${version#*/checkouts/}"; then
      cp "$built" "$object" && echo "dependencies: $source" >"$dependencies"
    else
      exec clang "$@"
    fi

    """#

  /// Copies the module and the objects of a target of another package, if all other packages are the same here: a
  /// module depends on those that it imports. The framework's sources are in no folder of checkouts.
  private static let swiftc = #"""
    for argument; do
      case $argument in
        */Modules/*.swiftmodule) module=${argument%.swiftmodule} ;;
        @*.build/sources) sources=${argument#@} ;;
      esac
    done
    name=${module##*/}
    built=$project/debug/$name.build
    source=$([ -z "$sources" ] || head -n 1 "$sources")
    mayCopy=''
    if [[ $source = */build/checkouts/* && -n $name && -s $project/debug/Modules/$name.swiftmodule ]]; then
      mayCopy=1
      for package in "${source%%/build/checkouts/*}"/build/checkouts/*; do
        diff -rq --exclude .git "$package" "$project/checkouts/${package##*/}" >/dev/null || mayCopy=''
      done
    fi
    if [ -n "$mayCopy" ]; then
      cp "$built"/*.swift.o "${sources%/sources}/" &&
        cp "$built"/include/* "${sources%/sources}/include/" &&
        cp "$project/debug/Modules/$name".* "${module%/*}/"
    else
      exec "$(command -v swiftc)" "$@"
    fi

    """#
}
