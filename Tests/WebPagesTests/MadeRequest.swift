// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import NIOCore

/// Requests in memory, without a server.
enum MadeRequest {
  /// A request with these headers, of which a name may occur twice.
  static func with(
    _ headers: KeyValuePairs<String, String> = [:], method: HTTPRequest.Method = .get,
    path: String = "/", host: String? = "127.0.0.1:80"
  ) -> Request {
    var fields = HTTPFields()
    for (name, value) in headers {
      if let name = HTTPFields.Element.Name(name) {
        fields.append(HTTPFields.Element(name: name, value: value))
      }
    }
    return Request(
      head: HTTPRequest(
        method: method, scheme: "http", authority: host, path: path, headerFields: fields),
      body: RequestBody(buffer: ByteBuffer()))
  }
}
