// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import NIOCore

/// The files of pages that are installed beside the program, in memory.
package struct InstalledFiles: Sendable {
  /// A script of this target that several pages use.
  package enum SharedScript: String, Sendable {
    /// Postpones drawing while a pointer is pressed.
    case pointerGuard = "pointer-guard.js"
  }

  private struct File: Sendable {
    let content: Data
    let type: ContentType
  }

  private let files: [String: File]

  /// Reads files of a target's resources.
  ///
  /// - Parameters:
  ///   - names: The paths of the files in `folder`; `/` and the name is the path at which each is served.
  ///   - folder: The folder in the resources.
  ///   - target: The name of the target.
  ///   - shared: Scripts of this target that are served beside them.
  /// - Throws: `PageServerError.missingFile`.
  package init(
    _ names: [String], in folder: String, of target: String, shared: [SharedScript]
  ) throws(PageServerError) {
    var files = try Self.read(names, in: folder, of: target)
    files.merge(try Self.read(shared.map(\.rawValue), in: "WebFiles", of: "WebPages")) { own, _ in
      own
    }
    files["/"] = files["/index.html"]
    self.files = files
  }

  /// Reads scripts of this target only.
  ///
  /// - Throws: `PageServerError.missingFile`.
  package init(shared: [SharedScript]) throws(PageServerError) {
    files = try Self.read(shared.map(\.rawValue), in: "WebFiles", of: "WebPages")
  }

  private static func read(
    _ names: [String], in folder: String, of target: String
  ) throws(PageServerError) -> [String: File] {
    // `Bundle.module` would end the program if the resources are missing.
    let root = Bundle.main.bundleURL.appendingPathComponent(
      "firebreak_\(target).resources/\(folder)")
    var files: [String: File] = [:]
    for name in names {
      let file = root.appendingPathComponent(name)
      guard let content = FileManager.default.contents(atPath: file.path) else {
        throw .missingFile(file.path)
      }
      files["/" + name] = File(content: content, type: ContentType(fileName: name))
    }
    return files
  }

  /// The response with the file at `path`; nil if there is none.
  ///
  /// - Parameter cacheControl: `no-cache` to let browsers keep the file and ask if it has changed.
  package func response(to path: String, cacheControl: String) -> Response? {
    files[path].map { file in
      Response(
        status: .ok,
        headers: [.contentType: file.type.header, .cacheControl: cacheControl],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.content)))
    }
  }
}
