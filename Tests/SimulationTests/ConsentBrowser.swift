import Foundation
import FoundationNetworking
import Testing

/// A person's browser at a consent page; it follows no redirection.
struct ConsentBrowser {
  let port: Int
  let path: String

  /// The page, where it shows a question, with what an answer has to name.
  func untilAsked() async throws -> (text: String, id: String) {
    for _ in 0..<500 {
      let text = try await text
      if let id = text.firstMatch(of: #/name="question" value="([0-9a-f]+)"/#) {
        return (text, String(id.1))
      }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw NothingAsked()
  }

  var text: String {
    get async throws { String(decoding: try await send(URLRequest(url: url)).0, as: UTF8.self) }
  }

  var status: Int {
    get async throws { try await send(URLRequest(url: url)).1 }
  }

  /// Clicks; the status of the answer.
  func answer(_ answer: String, to id: String) async throws -> Int {
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = Data("question=\(id)&answer=\(answer)".utf8)
    request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
    return try await send(request).1
  }

  /// The same browser at another path.
  func elsewhere(_ path: String) -> ConsentBrowser { ConsentBrowser(port: port, path: path) }

  private struct NothingAsked: Error {}

  private var url: URL {
    URL(string: "http://127.0.0.1:\(port)\(path)") ?? URL(fileURLWithPath: "/")
  }

  private func send(_ request: URLRequest) async throws -> (Data, Int) {
    let session = URLSession(
      configuration: .ephemeral, delegate: StaysOnThePage(), delegateQueue: nil)
    defer { session.finishTasksAndInvalidate() }
    let (data, response) = try await session.data(for: request)
    return (data, (response as? HTTPURLResponse)?.statusCode ?? 0)
  }
}

private final class StaysOnThePage: NSObject, URLSessionTaskDelegate {
  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }
}
