// SPDX-License-Identifier: Apache-2.0
import Foundation
import PackagePlugin

/// Adds a source file to a target that has the commit which the build is made from, and the version of the compiler.
@main
struct CommitPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let root = context.package.directoryURL
    let output = context.pluginWorkDirectoryURL.appending(path: "BuildCommit.swift")
    let compiler = try context.tool(named: "swiftc").url
    return [
      .buildCommand(
        displayName: "Reading the commit",
        executable: root.appending(path: "scripts/write-commit"),
        arguments: [output.path, compiler.path],
        inputFiles: repositoryState(of: root) + sources(of: root), outputFiles: [output])
    ]
  }

  /// The files that Git changes at a commit or a checkout; none without a repository.
  private func repositoryState(of root: URL) -> [URL] {
    var folder = root.appending(path: ".git")
    // In a further working tree, `.git` is a file with the location of the folder.
    if let link = try? String(contentsOf: folder, encoding: .utf8), link.hasPrefix("gitdir: ") {
      let path = link.dropFirst("gitdir: ".count).trimmingCharacters(in: .newlines)
      folder = URL(fileURLWithPath: path, relativeTo: root)
    }
    return ["HEAD", "logs/HEAD", "index"].map { folder.appending(path: $0) }
      .filter { FileManager.default.fileExists(atPath: $0.path) }
  }

  /// Everything that the product is built from: a change there is a difference from the commit.
  private func sources(of root: URL) -> [URL] {
    let sources = FileManager.default.enumerator(
      at: root.appending(path: "Sources"), includingPropertiesForKeys: nil)
    return [root.appending(path: "Package.swift")] + (sources?.compactMap { $0 as? URL } ?? [])
  }
}
