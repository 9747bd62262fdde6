import Foundation
import Hummingbird
import NIOCore

/// The answers of the server that are not from the web app.
package enum WebResponses {
  /// A JSON document.
  static func json(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
    Response(
      status: status,
      headers: [.contentType: ContentType.json.header, .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }

  /// The catalogue of a language.
  static func catalogue(_ texts: Data, to request: Request) -> Response {
    let isAccepted = ContentCoding.isAccepted(by: request.headers[.acceptEncoding])
    let deflated = isAccepted ? ContentCoding.deflated(texts) : nil
    var headers: HTTPFields = [
      .contentType: ContentType.json.header, .cacheControl: "no-store", .vary: "accept-encoding",
    ]
    if deflated != nil { headers[.contentEncoding] = "deflate" }
    return Response(
      status: .ok, headers: headers,
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: deflated ?? texts)))
  }

  /// A short page for a person: a heading and a sentence that says what to do.
  static func page(
    _ status: HTTPResponse.Status, _ title: String, _ sentence: String
  ) -> Response {
    let html = """
      <!doctype html>
      <html lang="en">
      <head><title>\(title)</title><meta name="viewport" content="width=device-width"></head>
      <body><main><h1>\(title)</h1><p>\(sentence)</p><p><a href="/">Open the app</a></p></main></body>
      </html>
      """
    return Response(
      status: status,
      headers: [
        .contentType: ContentType.html.header, .cacheControl: "no-store",
        .contentSecurityPolicy: PagePolicy.inert,
      ],
      body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
  }

  static func refusal(_ refusal: RequestGate.Refusal) -> Response {
    switch refusal {
    case .otherHost:
      page(
        .misdirectedRequest, "Wrong address",
        "This phone answers at 127.0.0.1 and localhost only: open the address that it printed.")
    case .otherSite:
      page(
        .forbidden, "Opened by another site",
        "Another page asked for this one. If you want it, open it here.")
    case .frame:
      page(.forbidden, "Not in a frame", "This phone is not shown inside other pages.")
    }
  }

  /// For a request without the secret that does not come from a process of the owner.
  static var noSecret: Response {
    page(
      .forbidden, "Not allowed",
      "Open the address that firebreak phone run printed: it contains the secret of this start.")
  }

  static var notFound: Response {
    page(.notFound, "Not found", "There is no such page: check the address.")
  }

  /// A service worker that removes itself, in place of one that an earlier web app on this port has installed.
  static var endOfWorker: Response {
    let script = """
      addEventListener('install', () => skipWaiting());
      addEventListener('activate', (event) => event.waitUntil((async () => {
        for (const name of await caches.keys()) await caches.delete(name);
        await registration.unregister();
        for (const page of await clients.matchAll({ type: 'window' })) await page.navigate(page.url);
      })()));
      """
    return Response(
      status: .ok,
      headers: [
        .contentType: ContentType(fileName: "service-worker.js").header, .cacheControl: "no-store",
        .contentSecurityPolicy: PagePolicy.inert,
      ],
      body: ResponseBody(byteBuffer: ByteBuffer(string: script)))
  }

  static var tooLarge: Response {
    page(
      .contentTooLarge, "Too large",
      "The file or message is too large: the limits are in Documentation/Bridge.md.")
  }

  /// A redirection to `path` of this server.
  package static func redirection(to path: String, setting cookie: String? = nil) -> Response {
    var headers: HTTPFields = [.location: path, .cacheControl: "no-store"]
    if let cookie { headers[.setCookie] = cookie }
    return Response(status: .seeOther, headers: headers)
  }

  /// The headers of every answer. They keep other sites from reading, framing or opening it.
  package static func addCommonHeaders(to response: inout Response) {
    for (name, value) in common {
      guard let name = HTTPFields.Element.Name(name) else { continue }
      response.headers[name] = value
    }
  }

  private static let common = [
    ("x-content-type-options", "nosniff"), ("x-frame-options", "DENY"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"), ("referrer-policy", "no-referrer"),
    ("x-dns-prefetch-control", "off"),
  ]
}
