import Foundation
import KeyServerAPI
import Logging
import UploadToken
import World

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
