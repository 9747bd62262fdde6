import Hummingbird
import KeyServerAPI
import QuietHTTP

extension RefusalForm {
  /// The form in which `/v1/publish` and `/v1/stats` give every refusal that the HTTP layer makes.
  static let publish = RefusalForm { PublishAnswer(error: $0.message, code: $0.publishCode) }
}

extension AnswerShape {
  /// Every answer of `/v1/publish` is as long as one with a revision token, and names the version.
  static let publish: AnswerShape = {
    var headers = HTTPFields()
    if let name = HTTPFields.Element.Name("x-api-version") { headers[name] = "v1" }
    return AnswerShape(bytesMin: PublishLimit.answerBytesMin, headers: headers)
  }()
}

extension QuietRefusal {
  fileprivate var publishCode: PublishCode {
    switch self {
    case .bodyTooLarge, .wrongContentType, .bodyTooSlow, .malformed, .notFound: .badRequest
    case .tooManyAttempts: .tooManyRequests
    case .unavailable, .ourFault: .internalError
    }
  }
}
