// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import NIOCore

// The responses that servers of pages have in common.
extension Response {
  /// A body of `type` that no cache stores.
  package static func unstored(
    _ body: some Collection<UInt8>, type: ContentType, status: HTTPResponse.Status = .ok
  ) -> Response {
    Response(
      status: status, headers: [.contentType: type.header, .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
  }

  /// A redirection to `path` of this server, which browsers then request with GET.
  package static func redirection(to path: String, setting cookie: String? = nil) -> Response {
    var headers: HTTPFields = [.location: path, .cacheControl: "no-store"]
    if let cookie { headers[.setCookie] = cookie }
    return Response(status: .seeOther, headers: headers)
  }

  /// Adds the headers that keep other sites from reading, framing or opening the response.
  package mutating func isolate(referrerPolicy: String = "no-referrer") {
    let isolating = [
      ("x-content-type-options", "nosniff"), ("x-frame-options", "DENY"),
      ("cross-origin-opener-policy", "same-origin"),
      ("cross-origin-resource-policy", "same-origin"), ("referrer-policy", referrerPolicy),
      ("x-dns-prefetch-control", "off"),
    ]
    for (name, value) in isolating {
      if let name = HTTPFields.Element.Name(name) { headers[name] = value }
    }
  }
}
