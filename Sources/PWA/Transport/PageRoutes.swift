import Foundation
import Hummingbird
import NIOCore

/// Answers requests for the files of the web app.
struct PageRoutes: Sendable {
  let pages: PageFolder
  let policy: PagePolicy

  /// True if there is a file at `path`.
  func hasFile(at path: String) -> Bool {
    if case .page = pages.page(at: path, isDocument: false) { true } else { false }
  }

  /// The file for `path`.
  func response(_ request: Request, path: String, wantsDocument: Bool) -> Response {
    switch pages.page(at: path, isDocument: wantsDocument) {
    case .page(let page): response(page, to: request)
    // With two slashes at its start, a path would name another machine.
    case .folder: WebAnswer.redirection(to: "/" + path.drop { $0 == "/" } + "/")
    case .tooLarge: WebAnswer.tooLarge
    case .nothing: WebAnswer.notFound
    }
  }

  private func response(_ page: PageFolder.Page, to request: Request) -> Response {
    let isCompressible =
      page.contentType.isText && ContentCoding.isAccepted(by: request.headers[.acceptEncoding])
    let deflated = isCompressible ? ContentCoding.deflated(page.content) : nil
    let tag = deflated == nil ? page.tag : ContentCoding.tag(of: page.tag)
    var headers: HTTPFields = [
      .cacheControl: "no-cache", .eTag: tag, .contentSecurityPolicy: policy.header,
      .vary: "accept-encoding",
    ]
    // A service worker may control all pages, wherever its script is.
    if let name = HTTPFields.Element.Name("service-worker-allowed") { headers[name] = "/" }
    if Self.isListed(tag, in: request.headers[.ifNoneMatch]) {
      return Response(status: .notModified, headers: headers)
    }
    headers[.contentType] = page.contentType.header
    if deflated != nil { headers[.contentEncoding] = "deflate" }
    return Response(
      status: .ok, headers: headers,
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: deflated ?? page.content)))
  }

  /// True if `tag` is in the value of `If-None-Match` (RFC 9110, 13.1.2), where it may be marked as weak.
  private static func isListed(_ tag: String, in header: String?) -> Bool {
    (header ?? "").split(separator: ",").contains { item in
      let item = item.trimmingCharacters(in: .whitespaces)
      return item == "*" || item == tag || item == "W/" + tag
    }
  }
}
