// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import KeyServerAPI
import QuietHTTP
import World

/// The start page: the pages of the account's role, and what needs attention.
struct HomePage: Sendable {
  let pages: PageRouter
  let authority: any AdministeredAuthority
  let changes: ChangePages
  let configuration: ConfigurationPages
  let issuedCodes: IssuedCodeStore
  let smsLists: SMSLists
  /// The clock of the servers.
  let clock: any WallClock

  func add(to router: Router<QuietContext>) {
    pages.get(router, "/", .signedIn, show)
  }

  /// A sentence that needs attention, with the page where something is done about it.
  private struct Remark {
    let path: String
    let text: String
  }

  private func show(_ visit: Visit) async throws -> Response {
    let (texts, own) = (visit.texts, try visit.account)
    let entries = MenuEntry.entries(for: own.role).map { entry in
      ["path": entry.path, "title": texts[entry.title], "text": texts[entry.text]]
    }
    let waiting = [
      ("/changes", TextKey.changesWaiting, try await changes.waiting(for: own)),
      ("/configuration", .configurationWaiting, try await configuration.waiting(for: own)),
    ].filter { $0.2 > 0 }.map { Remark(path: $0.0, text: texts[$0.1, "\($0.2)"]) }
    let remarks = waiting + (try await remarks(for: own, texts))
    return pages.renderer.response(
      Page(
        texts[.home], .home,
        [
          "entries": entries, "isWaiting": !remarks.isEmpty,
          "waiting": remarks.map { ["path": $0.path, "text": $0.text] },
        ]), for: visit)
  }

  /// The remarks that the rights of an account concern. What a server does not answer is named as not known; what this
  /// console does not have is left out.
  private func remarks(for account: Account, _ texts: Texts) async throws -> [Remark] {
    let rights = account.role.rights
    var remarks: [Remark] = []
    if rights.contains(.issueCodes) {
      remarks += await smsLists.interrupted(of: account).map {
        Remark(path: "/codes/batch/\($0.text)", text: texts[.homeListInterrupted])
      }
    }
    if rights.contains(.issueCodes), let text = try await quota(texts) {
      remarks.append(Remark(path: "/codes/new", text: text))
    }
    if rights.contains(.operatePhones), let text = await pause(texts) {
      remarks.append(Remark(path: "/phones", text: text))
    }
    if rights.contains(.administerKeys) {
      remarks += (await keys(texts) + apiKeys(texts)).map { Remark(path: "/keys", text: $0) }
    }
    return remarks
  }

  private func pause(_ texts: Texts) async -> String? {
    do throws(AuthorityFailure) {
      guard let pause = try await authority.instructions().pause else { return nil }
      guard let until = pause.until else { return texts[.homePaused] }
      return until > clock.now.unixSecond ? texts[.phonesPausedUntil, texts.time(until)] : nil
    } catch {
      // The page of the phones has the reason.
      return error.isNotOffered ? nil : texts[.homePauseUnknown]
    }
  }

  /// The codes of the last day, if the quota is nearly used up.
  private func quota(_ texts: Texts) async throws -> String? {
    let quota: Int
    do throws(AuthorityFailure) {
      quota = try await authority.codeRules().codesPerDay
    } catch {
      return error.isNotOffered ? nil : texts[.homeQuotaUnknown]
    }
    let day = Int64(Date.unixDaySeconds)
    let count = try await issuedCodes.count(since: clock.now.unixSecond - day)
    guard count * 100 >= quota * ConsoleLimit.quotaWarningPercent else { return nil }
    return count >= quota
      ? texts[.homeQuotaUsedUp, "\(quota)"] : texts[.homeQuotaNear, "\(count)", "\(quota)"]
  }

  /// The API keys of other systems that have nearly used up their quota.
  private func apiKeys(_ texts: Texts) async -> [String] {
    do throws(AuthorityFailure) {
      let quota = try await authority.codeRules().codesPerDay
      return try await authority.apiKeys(countsLiveCodes: false).compactMap { key in
        guard key.revokedAt == nil, let count = key.issuedToday else { return nil }
        let name = "\(key.name) (\(key.id))"
        if count >= quota { return texts[.homeKeyQuotaUsedUp, name, "\(quota)"] }
        // Without the number, which would show single codes to those who look often.
        let isNear = count * 100 >= quota * ConsoleLimit.quotaWarningPercent
        return isNear
          ? texts[.homeKeyQuotaNear, name, "\(ConsoleLimit.quotaWarningPercent)", "\(quota)"] : nil
      }
    } catch {
      // The remark about the quota of the console, or the page of the keys, has the reason.
      return []
    }
  }

  /// The servers whose signing keys end soon.
  private func keys(_ texts: Texts) async -> [String] {
    var sentences: [String] = []
    for server in SigningServer.allCases {
      let name = texts[server == .keys ? .keysOfKeys : .keysOfVerification]
      do throws(AuthorityFailure) {
        let ends = try await authority.signingKeys(of: server).map(\.validThru)
        if let text = keyEnd(ends, of: name, texts) { sentences.append(text) }
      } catch {
        if !error.isNotOffered { sentences.append(texts[.homeKeysUnknown, name]) }
      }
    }
    return sentences
  }

  /// Nil if a key is valid for long enough, or if there is none yet.
  private func keyEnd(_ ends: [Int64?], of server: String, _ texts: Texts) -> String? {
    let now = clock.now.unixSecond
    guard let end = ends.map({ $0 ?? .max }).max(), end < now + ConsoleLimit.keyWarningSeconds
    else { return nil }
    return end < now ? texts[.homeNoKey, server] : texts[.homeKeyEnds, server, texts.time(end)]
  }
}
