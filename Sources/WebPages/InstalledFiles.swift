// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import NIOCore

/// The files of pages that are installed beside the program, in memory.
package struct InstalledFiles: Sendable {
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
  /// - Throws: `PageServerError.missingFile`.
  package init(_ names: [String], in folder: String, of target: String) throws(PageServerError) {
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
    files["/"] = files["/index.html"]
    self.files = files
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
