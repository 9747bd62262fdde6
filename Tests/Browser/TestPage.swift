// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// A page of a test as a file, so that no server is needed.
public struct TestPage {
  private let folder: TemporaryFolder
  public let address: String

  public init(
    _ body: String, style: String = "", title: String = "Test", language: String = "en"
  ) throws {
    folder = try TemporaryFolder()
    let file = folder.path("page.html")
    let text = """
      <!doctype html><html lang="\(language)"><head><meta charset="utf-8"><title>\(title)</title>
      <meta name="viewport" content="width=device-width"><style>\(style)</style></head>
      <body>\(body)</body></html>
      """
    try Data(text.utf8).write(to: file)
    address = file.absoluteString
  }
}
