// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QuietHTTP
import VerificationAPI
import World

/// The codes that an official has issued, with their states, and the numbers of codes by official.
struct IssuedCodePages: Sendable {
  let pages: PageRouter
  let authority: any AdministeredAuthority
  let issuedCodes: IssuedCodeStore
  let clock: any WallClock

  func add(to router: Router<QuietContext>) {
    pages.get(router, "/codes/issued", .holders(of: .issueCodes), show)
    pages.get(router, "/officials", .holders(of: .readStatistics), officials)
    pages.get(router, "/officials/csv", .holders(of: .readStatistics), officialsFile)
    pages.get(router, "/issuers", .holders(of: .readStatistics), issuers)
    pages.get(router, "/issuers/csv", .holders(of: .readStatistics), issuersFile)
    pages.get(router, "/attempts/csv", .holders(of: .readStatistics), attemptsFile)
  }

  // MARK: - Own codes

  private func show(_ visit: Visit) async throws -> Response {
    let search = (visit.query("number") ?? "").trimmingCharacters(in: .whitespaces)
    let skip = visit.query("skip").flatMap { Int($0) }.map { max(0, $0) } ?? 0
    let countMax = ConsoleLimit.issuedCodesOnPage
    let codes = try await issuedCodes.codes(
      of: visit.account, search: search, skip: skip, countMax: countMax + 1)
    var rows: [[String: Any]] = []
    for code in codes.prefix(countMax) { rows.append(try await values(of: code, visit)) }
    var values: [String: Any] = [
      "search": search, "codes": rows, "isEmpty": rows.isEmpty,
      "lead": visit.texts[.issuedCodesLead, "\(ConsoleLimit.issuedCodeSeconds / 86_400)"],
    ]
    if search.isEmpty {
      values["none"] = visit.texts[.issuedCodesEmpty, "\(ConsoleLimit.issuedCodeSeconds / 86_400)"]
    } else {
      values["none"] = visit.texts[.issuedCodesNone]
    }
    if codes.count > countMax {
      values["older"] = "/codes/issued?number=\(search)&skip=\(skip + countMax)"
    }
    return pages.renderer.response(
      Page(visit.texts[.issuedCodesTitle], .issuedCodes, values), for: visit)
  }

  private func values(
    of code: IssuedCodeStore.Entry, _ visit: Visit
  ) async throws -> [String: Any] {
    let texts = visit.texts
    var values: [String: Any] = [
      "uuid": code.uuid.text, "time": visit.time(code.issuedAt),
      "test": texts[code.test == .confirmed ? .issueConfirmed : .issueLikely],
      "list": code.list?.text ?? "",
    ]
    do throws(AuthorityFailure) {
      let state = try await authority.state(ofCode: code.uuid)
      let isOver = state.expiresAt < clock.now
      values["until"] = visit.time(state.expiresAt)
      values["state"] =
        texts[state.isUsed ? .issuedCodesUsed : isOver ? .issuedCodesOver : .issuedCodesUnused]
      values["canExpire"] = !state.isUsed && !isOver
      values["canReplace"] = !state.isUsed
    } catch {
      values["until"] = "–"
      values["state"] = texts[error == .notFound ? .issuedCodesGone : .errorServerTitle]
    }
    return values
  }

  // MARK: - Statistics by official

  /// A count of the table. Small ones are not shown, as on the other pages.
  private static func text(_ count: IssuedCodeStore.Count, _ texts: Texts) -> String {
    let least = ConsoleLimit.shownCountMin
    return count.codes < least ? texts[.funnelFew, "\(least)"] : "\(count.codes)"
  }

  private func officials(_ visit: Visit) async throws -> Response {
    let counts = try await issuedCodes.counts(in: visit.texts.times)
    let values: [String: Any] = [
      "isEmpty": counts.isEmpty,
      "rows": counts.map {
        ["day": $0.day, "account": $0.account, "codes": Self.text($0, visit.texts)]
      },
      "lead": visit.texts[
        .officialsLead, "\(ConsoleLimit.issuedCodeSeconds / 86_400)",
        "\(ConsoleLimit.shownCountMin)"],
    ]
    return pages.renderer.response(
      Page(visit.texts[.officialsTitle], .officials, values), for: visit)
  }

  private func officialsFile(_ visit: Visit) async throws -> Response {
    let texts = visit.texts
    let header = [texts[.date], texts[.officialsOfficial], texts[.funnelIssued]]
    let rows = try await issuedCodes.counts(in: texts.times).map {
      [$0.day, $0.account, Self.text($0, texts)]
    }
    return PageRenderer.download(
      CSV.text([header] + rows, separator: CSV.separator(for: visit.language)),
      name: "officials.csv", type: "text/csv; charset=utf-8")
  }

  // MARK: - Statistics by system

  /// The newest days, with the kind of each issuer in the language of the page.
  private func issuerRows(_ texts: Texts) async throws -> [[String]] {
    let codes = try await authority.codesByIssuer()
    let days = Set(Set(codes.map(\.day)).sorted(by: >).prefix(ConsoleLimit.funnelDaysMax))
    return codes.filter { days.contains($0.day) }.map { issuer in
      let kind: TextKey = issuer.kind == .apiKey ? .issuersKey : .issuersExternal
      return [issuer.day, texts[kind], issuer.name, "\(issuer.codes)"]
    }
  }

  private func issuers(_ visit: Visit) async throws -> Response {
    let rows = try await issuerRows(visit.texts)
    let attempts = try await attemptRows(visit.texts)
    let values: [String: Any] = [
      "isEmpty": rows.isEmpty,
      "rows": rows.map { ["day": $0[0], "kind": $0[1], "name": $0[2], "codes": $0[3]] },
      "hasAttempts": !attempts.isEmpty,
      "attempts": attempts.map {
        [
          "day": $0[0], "app": $0[1], "codes": $0[2], "invalid": $0[3], "tokens": $0[4],
          "refused": $0[5], "ios": $0[6], "android": $0[7], "other": $0[8],
        ]
      },
    ]
    return pages.renderer.response(Page(visit.texts[.issuersTitle], .issuers, values), for: visit)
  }

  private func issuersFile(_ visit: Visit) async throws -> Response {
    let columns: [TextKey] = [.date, .issuersKind, .name, .funnelIssued]
    let rows = try await issuerRows(visit.texts)
    return PageRenderer.download(
      CSV.text(
        [columns.map { visit.texts[$0] }] + rows, separator: CSV.separator(for: visit.language)),
      name: "issuers.csv", type: "text/csv; charset=utf-8")
  }

  // MARK: - Attempts of apps

  /// The newest days, each with all apps first.
  private func attemptRows(_ texts: Texts) async throws -> [[String]] {
    let attempts = try await authority.attempts()
    let days = Set(Set(attempts.map(\.day)).sorted(by: >).prefix(ConsoleLimit.funnelDaysMax))
    return attempts.filter { days.contains($0.day) }.map { app in
      let systems = app.codesInvalidBySystem
      let numbers = [
        app.codesClaimed, app.codesInvalid, app.tokensClaimed, app.tokensInvalid, systems?.ios,
        systems?.android, systems?.unknown,
      ]
      return [app.day, app.app ?? texts[.attemptsAll]]
        + numbers.map { $0.map(String.init) ?? "–" }
    }
  }

  private func attemptsFile(_ visit: Visit) async throws -> Response {
    let columns: [TextKey] = [
      .date, .attemptsApp, .funnelRedeemed, .attemptsInvalid, .attemptsTokens, .attemptsRefused,
      .attemptsIOS, .attemptsAndroid, .attemptsOther,
    ]
    let rows = try await attemptRows(visit.texts)
    return PageRenderer.download(
      CSV.text(
        [columns.map { visit.texts[$0] }] + rows, separator: CSV.separator(for: visit.language)),
      name: "attempts.csv", type: "text/csv; charset=utf-8")
  }
}

/// The templates of the issued codes.
enum IssuedCodeTemplates {
  static let issuedCodes = """
    <h1>{{t.issuedCodesTitle}}</h1>
    <p class="lead">{{lead}}</p>
    <form method="get" action="/codes/issued" class="card" role="search">
    <label for="search">{{t.issuedCodesSearch}}</label>
    <input id="search" name="number" type="text" class="code" autocomplete="off" spellcheck="false" value="{{search}}">
    <button id="find">{{t.issuedCodesFind}}</button>
    </form>
    {{#isEmpty}}<p id="none">{{none}}</p>{{/isEmpty}}
    {{^isEmpty}}
    \(LayoutTemplate.wide("issued-caption"))
    <table role="table" id="issued" class="stack">
    <caption id="issued-caption">{{t.issuedCodesCaption}}. {{t.zone}}</caption>
    <thead role="rowgroup"><tr role="row">
    <th role="columnheader" scope="col">{{t.issuedHandle}}</th>
    <th role="columnheader" scope="col">{{t.time}}</th>
    <th role="columnheader" scope="col">{{t.issueTest}}</th>
    <th role="columnheader" scope="col">{{t.status}}</th>
    <th role="columnheader" scope="col">{{t.batchColumnExpires}}</th>
    <th role="columnheader" scope="col">{{t.actions}}</th></tr></thead>
    <tbody>
    {{#codes}}
    <tr role="row"><th role="rowheader" scope="row"><code>{{uuid}}</code></th>
    <td role="cell" class="time" data-label="{{t.time}}">{{time}}</td>
    <td role="cell" data-label="{{t.issueTest}}">{{test}}</td><td role="cell" data-label="{{t.status}}">{{state}}</td>
    <td role="cell" class="time" data-label="{{t.batchColumnExpires}}">{{until}}</td><td role="cell" class="actions">
    {{#canExpire}}<form method="post" action="/codes/expire">\(LayoutTemplate.token)
    <input type="hidden" name="uuid" value="{{uuid}}">
    <button class="quiet" aria-label="{{t.statusExpire}}: {{uuid}}">{{t.issuedCodesEnd}}</button></form>{{/canExpire}}
    {{#canReplace}}<a class="button quiet" href="/codes/new?replaces={{uuid}}"\
     aria-label="{{t.issuedCodesReplace}}: {{uuid}}">{{t.issuedCodesReplace}}</a>{{/canReplace}}
    </td></tr>
    {{/codes}}
    </tbody></table></div>
    {{/isEmpty}}
    {{#older}}<p><a class="button" id="older" href="{{older}}">{{t.issuedCodesOlder}}</a></p>{{/older}}
    """

  static let officials = """
    <h1>{{t.officialsTitle}}</h1>
    <p class="lead">{{lead}}</p>
    {{#isEmpty}}<p>{{t.funnelEmpty}}</p>{{/isEmpty}}
    {{^isEmpty}}
    <p><a class="button" id="officials-csv" href="/officials/csv">{{t.officialsDownload}}</a></p>
    \(LayoutTemplate.wide("officials-caption"))
    <table id="officials"><caption id="officials-caption">{{t.officialsTitle}}. {{t.zone}}</caption>
    <thead><tr><th scope="col">{{t.date}}</th><th scope="col">{{t.officialsOfficial}}</th>
    <th scope="col">{{t.funnelIssued}}</th></tr></thead>
    <tbody>
    {{#rows}}<tr><th scope="row" class="time">{{day}}</th><td>{{account}}</td><td>{{codes}}</td></tr>{{/rows}}
    </tbody></table></div>
    {{/isEmpty}}
    """

  static let issuers = """
    <h1>{{t.issuersTitle}}</h1>
    <p class="lead">{{t.issuersLead}}</p>
    {{#isEmpty}}<p id="none">{{t.funnelEmpty}}</p>{{/isEmpty}}
    {{^isEmpty}}
    <p><a class="button" id="issuers-csv" href="/issuers/csv">{{t.officialsDownload}}</a></p>
    \(LayoutTemplate.wide("issuers-caption"))
    <table id="issuers"><caption id="issuers-caption">{{t.issuersTitle}}. {{t.daysInUTC}}</caption>
    <thead><tr><th scope="col">{{t.date}}</th><th scope="col">{{t.issuersKind}}</th>
    <th scope="col">{{t.name}}</th><th scope="col">{{t.funnelIssued}}</th></tr></thead>
    <tbody>
    {{#rows}}<tr><th scope="row" class="time">{{day}}</th><td>{{kind}}</td><td>{{name}}</td>\
    <td>{{codes}}</td></tr>{{/rows}}
    </tbody></table></div>
    {{/isEmpty}}
    <h2>{{t.attemptsTitle}}</h2>
    <p>{{t.attemptsLead}}</p>
    {{^hasAttempts}}<p id="no-attempts">{{t.funnelEmpty}}</p>{{/hasAttempts}}
    {{#hasAttempts}}
    <p><a class="button" id="attempts-csv" href="/attempts/csv">{{t.attemptsDownload}}</a></p>
    \(LayoutTemplate.wide("attempts-caption"))
    <table id="attempts"><caption id="attempts-caption">{{t.attemptsTitle}}. {{t.daysInUTC}}</caption>
    <thead><tr><th scope="col">{{t.date}}</th><th scope="col">{{t.attemptsApp}}</th>
    <th scope="col">{{t.funnelRedeemed}}</th><th scope="col">{{t.attemptsInvalid}}</th>
    <th scope="col">{{t.attemptsTokens}}</th><th scope="col">{{t.attemptsRefused}}</th>
    <th scope="col">{{t.attemptsIOS}}</th><th scope="col">{{t.attemptsAndroid}}</th>
    <th scope="col">{{t.attemptsOther}}</th></tr></thead>
    <tbody>
    {{#attempts}}<tr><th scope="row" class="time">{{day}}</th><td>{{app}}</td><td>{{codes}}</td>\
    <td>{{invalid}}</td><td>{{tokens}}</td><td>{{refused}}</td>\
    <td>{{ios}}</td><td>{{android}}</td><td>{{other}}</td></tr>{{/attempts}}
    </tbody></table></div>
    {{/hasAttempts}}
    """
}
