// SPDX-License-Identifier: Apache-2.0
import Mustache
import ReportFormats

extension MustacheTemplate {
  /// Creates a template of HTML whose values are escaped as `HTMLText` does.
  ///
  /// The escaping of swift-mustache compares characters, so a quotation mark before a combining mark would end an
  /// attribute. A partial would return to that escaping: templates of pages have none.
  ///
  /// - Throws: The error of swift-mustache if the template is invalid.
  package init(html text: String) throws {
    _ = Self.registration
    try self.init(string: "{{% CONTENT_TYPE:\(ScalarHTML.name)}}\n" + text)
  }

  private static let registration: Void = MustacheContentTypes.register(
    ScalarHTML(), named: ScalarHTML.name)
}

/// Values of pages.
private struct ScalarHTML: MustacheContentType {
  static let name = "SCALAR_HTML"

  func escapeText(_ text: String) -> String { HTMLText.escaped(text) }
}
