import Foundation
import Hummingbird
import KeyServerAPI
import Logging
import QuietHTTP
import UploadToken
import World

/// `POST /v1/stats` over HTTP.
struct StatisticsRoute: Sendable {
  typealias Body = Result<StatisticsRequest, StrictJSONError>

  let desk: StatisticsDesk
  let budget: AttemptBudget
  let budgetKeys: BudgetKeys
  let randomness: any Randomness

  /// The route for the router.
  var route: QuietRoute<Body> {
    QuietRoute(
      limit: BodyLimit(bytesMax: PublishLimit.bodyBytesMax), refusals: .publish,
      shape: .publish, randomness: randomness,
      read: { bytes in
        Result { () throws(StrictJSONError) in try StatisticsRequest(strictJSON: bytes) }
      },
      // A decoy is answered without days: it may come from anybody.
      decoy: { _ in try QuietAnswer(StatisticsAnswer(days: [])) },
      answer: { try await answered($0) })
  }

  private func answered(_ request: QuietRequest<Body>) async throws -> QuietAnswer {
    let key = budgetKeys.key(for: request.context)
    if let seconds = await budget.spend(key) {
      throw QuietRefusal.tooManyAttempts(retryAfterSeconds: seconds)
    }
    if case .failure(let fault) = request.body {
      return try QuietAnswer(
        StatisticsAnswer(error: "\(fault)", code: .badRequest), status: .badRequest)
    }
    let days: [StatisticsDay]
    do throws(StatisticsDesk.Refusal) {
      days = try await desk.days(
        for: request.headers[.authorization], logger: request.context.logger)
    } catch {
      return try await refused(error, key)
    }
    await budget.giveBack(key)
    return try QuietAnswer(StatisticsAnswer(days: days))
  }

  private func refused(
    _ refusal: StatisticsDesk.Refusal, _ key: BudgetKey
  ) async throws -> QuietAnswer {
    guard refusal == .unavailable else {
      let sentence = "The bearer token does not let its bearer see statistics."
      return try QuietAnswer(
        StatisticsAnswer(error: sentence, code: .unauthorized), status: .unauthorized)
    }
    await budget.giveBack(key)
    return try QuietAnswer(
      StatisticsAnswer(error: "The counts cannot be read; try again later.", code: .internalError),
      status: .serviceUnavailable, retryAfterSeconds: QuietLimit.retryAfterSeconds)
  }
}

/// Tells an authority what was counted of its own uploads, once that tells nothing about one person.
///
/// Documentation/KeyServer.md 10.
struct StatisticsDesk: Sendable {
  /// Why nothing is told.
  enum Refusal: Error, Hashable, Sendable {
    case unauthorized
    case unavailable
  }

  let register: RegisterDesk
  let store: any KeyStore
  let clock: any WallClock
  let configuration: StatisticsConfiguration

  /// The days of the authority whose `bearer` token this is.
  func days(
    for bearer: String?, logger: Logger
  ) async throws(Refusal) -> [StatisticsDay] {
    let now = clock.now
    do {
      let issuer = try Self.issuer(of: bearer, in: try await register.register(), at: now)
      let counts = try await store.statistics(
        of: issuer, from: StatisticsView.firstDay(at: now))
      return StatisticsView(now: now, configuration: configuration).days(of: counts)
    } catch let refusal as Refusal {
      throw refusal
    } catch {
      logger.error("storage failed", metadata: KeyServerError.metadata(of: error))
      throw .unavailable
    }
  }

  private static func issuer(
    of bearer: String?, in register: Register, at now: Date
  ) throws(Refusal) -> String {
    let words = (bearer ?? "").split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "bearer" else { throw .unauthorized }
    do {
      let token = try CompactToken(String(words[1]))
      guard let hint = token.hint(StatisticsClaims.self),
        register.authorities[hint.iss]?.seesStatistics == true,
        let key = register.key(token.keyID, of: hint.iss, at: now)
      else { throw Refusal.unauthorized }
      let claims = try token.claims(StatisticsClaims.self, signedBy: key)
      guard claims.iss == hint.iss, claims.isGood(at: now) else { throw Refusal.unauthorized }
      return claims.iss
    } catch {
      throw .unauthorized
    }
  }
}

/// What an authority says of itself when it asks for its statistics.
struct StatisticsClaims: Decodable {
  /// The audience of such a token.
  static let audience = "keyserver"

  let iss: String
  let aud: Names
  let iat: Int64?
  let nbf: Int64?
  let exp: Int64

  /// One name or several (RFC 7519 4.1.3).
  struct Names: Decodable {
    let names: [String]

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let name = try? container.decode(String.self) {
        names = [name]
      } else {
        names = try container.decode([String].self)
      }
    }
  }

  /// Whether it is for us, and good at `now`.
  func isGood(at now: Date) -> Bool {
    let seconds = now.timeIntervalSince1970
    return aud.names == [Self.audience] && seconds < TimeInterval(exp)
      && seconds >= TimeInterval(max(iat ?? 0, nbf ?? 0))
  }
}
