// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport
import TextEncodings

/// A connection to chromedriver: one HTTP request per command.
struct WebDriverConnection: Sendable {
  /// A screenshot of a long page is the largest response.
  private static let responseBytesMax = 64 << 20

  private static let client = HTTPClient(configuration: .loopback)

  enum Method: String {
    case GET, POST, DELETE
  }

  /// The address of the session, or of chromedriver itself.
  let address: String

  /// Sends a command and returns the value of the response.
  ///
  /// - Throws: `WebDriverError` if chromedriver refuses it.
  func send(
    _ method: Method, _ path: String, _ parameters: JSONValue = [:]
  ) async throws -> JSONValue {
    var request = HTTPClientRequest(url: address + path)
    request.method = HTTPMethod(rawValue: method.rawValue)
    if method == .POST {
      request.headers.add(name: "content-type", value: "application/json")
      request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(parameters)))
    }
    let response = try await Self.client.execute(
      request, timeout: .seconds(Int64(Patience.seconds)))
    let body = try await response.body.collect(upTo: Self.responseBytesMax)
    let value = try JSONValue(large: Data(body.readableBytesView))["value"]
    guard response.status == .ok else {
      throw WebDriverError(
        command: path, code: value["error"].string ?? "\(response.status.code)",
        message: value["message"].string ?? "")
    }
    return value ?? .null
  }
}

/// A command that chromedriver refused.
public struct WebDriverError: Error, CustomStringConvertible {
  let command: String
  /// The code of the WebDriver standard, such as `stale element reference`.
  public let code: String
  let message: String

  public var description: String {
    "\(command): \(code): \(message.split(separator: "\n").first ?? "")"
  }

  /// True if the same command may succeed later, when the page has finished a change.
  var isTransient: Bool {
    [
      "stale element reference", "element click intercepted", "element not interactable",
      "no such element", "javascript error", "detached shadow root",
    ].contains(code)
  }
}
