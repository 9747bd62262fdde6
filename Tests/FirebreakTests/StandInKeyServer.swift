import Foundation
import NIOHTTP1
import Synchronization

/// A server that speaks `/v1/publish` as far as a load generator can see.
final class StandInKeyServer: Sendable {
  /// How it answers.
  enum Manner: Sendable {
    case asItShould
    /// As Google's server refuses a certificate.
    case refusing
    /// With 200, but one key was left out.
    case partly
    /// Goes away in the middle of every fifth answer.
    case hangingUp
    /// Decoys get an answer that is shorter.
    case shortDecoys
    /// Decoys lack a header.
    case plainDecoys
    /// Says good-bye with every answer.
    case closing
  }

  /// What was uploaded.
  struct Upload: Sendable {
    let isChaff: Bool
    let path: String
    let body: Data
  }

  /// What was uploaded until now.
  private final class Book: Sendable {
    private let received = Mutex<[Upload]>([])

    var uploads: [Upload] { received.withLock { $0 } }

    /// - Returns: How many there are then.
    func note(_ upload: Upload) -> Int {
      received.withLock { received in
        received.append(upload)
        return received.count
      }
    }
  }

  private let book: Book
  private let server: StandInServer

  var port: Int { server.port }
  var uploads: [Upload] { book.uploads }
  var address: String { server.address }

  init(_ manner: Manner) throws {
    let book = Book()
    self.book = book
    server = try StandInServer { question in
      let upload = Upload(
        isChaff: question.headers["x-chaff"] != nil, path: question.path, body: question.body)
      return manner.reply(to: upload, number: book.note(upload))
    }
  }
}

extension StandInKeyServer.Manner {
  fileprivate func reply(
    to upload: StandInKeyServer.Upload, number: Int
  ) -> StandInServer.Reply? {
    if self == .hangingUp, number.isMultiple(of: 5) { return nil }
    var headers: HTTPHeaders = ["content-type": "application/json", "x-api-version": "v1"]
    if self == .plainDecoys, upload.isChaff { headers.remove(name: "x-api-version") }
    if self == .closing { headers.add(name: "connection", value: "close") }
    // Sizes differ from answer to answer and say nothing.
    let padding = String(
      repeating: "x", count: (self == .shortDecoys && upload.isChaff ? 10 : 500) + number % 7)
    // Chunked, as Go's servers answer: no length is given.
    return StandInServer.Reply(
      status: self == .refusing ? 401 : 200, headers: headers,
      body: #"{\#(words(for: upload)),"padding":"\#(padding)"}"#, isLast: self == .closing)
  }

  private func words(for upload: StandInKeyServer.Upload) -> String {
    let body = try? JSONSerialization.jsonObject(with: upload.body) as? [String: Any]
    let count = (body?["temporaryExposureKeys"] as? [Any])?.count ?? 0
    return switch self {
    case .refusing:
      #""error":"no","code":"health_authority_verification_certificate_invalid""#
    case .partly: #""insertedExposures":\#(count - 1),"code":"partial_failure","error":"a key""#
    default: #""insertedExposures":\#(count),"revisionToken":"""#
    }
  }
}
