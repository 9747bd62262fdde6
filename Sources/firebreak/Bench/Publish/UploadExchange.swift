import NIOHTTP1

/// One request with its answer, or what became of it.
struct UploadExchange: Sendable {
  /// Whether the request was a decoy.
  let isChaff: Bool
  /// From the first byte sent to the last byte received.
  let duration: Duration
  /// Nil where the connection broke or nothing came in time.
  let answer: Answer?

  /// What the server said.
  struct Answer: Sendable {
    let status: UInt
    let headers: [Header]
    let body: [UInt8]
  }

  /// A header field of the answer.
  struct Header: Sendable {
    let name: String
    let value: String
  }
}

extension UploadExchange.Answer {
  init(head: HTTPResponseHead, body: [UInt8]) {
    self.init(
      status: head.status.code,
      headers: head.headers.map { UploadExchange.Header(name: $0.name, value: $0.value) },
      body: body)
  }
}
