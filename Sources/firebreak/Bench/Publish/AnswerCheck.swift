import Foundation

/// Whether the server did what an upload asked for. Strict: a quick refusal is no fast answer.
struct AnswerCheck {
  /// Keys of each upload; all of them have to be in.
  let keysPerUpload: Int

  /// What of an answer is looked at.
  private struct Body: Decodable {
    let insertedExposures: Int?
    let error: String?
    let code: String?
  }

  /// A decoy is answered with 200 whatever is in it; a real upload is in, whole and without a word.
  func isRight(_ exchange: UploadExchange) -> Bool {
    guard let answer = exchange.answer, answer.status == 200 else { return false }
    guard !exchange.isChaff else { return true }
    guard let body = try? JSONDecoder().decode(Body.self, from: Data(answer.body)) else {
      return false
    }
    return body.insertedExposures == keysPerUpload && (body.error ?? "").isEmpty
      && (body.code ?? "").isEmpty
  }
}
