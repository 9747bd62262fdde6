// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Mustache
import NIOCore
import QuietHTTP
import VerificationAPI
import WebPages
import World

/// GET and POST /report: a page on which people report their own test, and get a code by SMS.
///
/// It works without scripts and cookies. The page after the form is the same for a phone number that must wait.
struct ReportPage: Sendable {
  let reports: UserReports
  private let layout: MustacheTemplate
  private let bodies = RequestBodies()

  static let path = "/report"
  static let stylePath = "/report.css"
  private static let policy = ContentPolicy([.styles], sendsForms: true)
  /// The template is parsed once for all servers of the process.
  private static let parsed = Result { try MustacheTemplate(html: ReportTemplate.page) }

  /// - Throws: `VerificationServerError` if the texts are not installed, or if the template is invalid (a programming
  ///   error).
  init(reports: UserReports) throws {
    try ReportLanguage.requireCatalogues()
    self.reports = reports
    layout = try Self.parsed.get()
  }

  func add(to router: Router<QuietContext>) {
    router.get(RouterPath(Self.path)) { request, _ in form(in: ReportLanguage(of: request)) }
    router.post(RouterPath(Self.path)) { request, context in try await take(request, context) }
    router.get(RouterPath(Self.stylePath)) { _, _ in
      var response = Response(
        status: .ok, headers: [.contentType: "text/css; charset=utf-8", .cacheControl: "no-cache"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: ReportTemplate.style)))
      response.isolate()
      return response
    }
  }

  // MARK: - The form

  /// The content of the form.
  private struct Typed {
    var phone = ""
    var day = ""
    var hasConsented = false
  }

  /// A fault of the form, by the field that it concerns.
  private enum Fault {
    case phone, day, consent
    /// Nothing was wrong with the form.
    case refused(ReportText, QuietRefusal)
  }

  private func take(_ request: Request, _ context: QuietContext) async throws -> Response {
    let fields: [String: String]
    var language = ReportLanguage(of: request)
    do throws(QuietRefusal) {
      fields = try await self.fields(of: request, context)
    } catch {
      return form(in: language, fault: .refused(.failed, error))
    }
    language = ReportLanguage(rawValue: fields["lang"] ?? "") ?? language
    guard isFromThisPage(request) else {
      return form(in: language, fault: .refused(.foreign, .malformed))
    }
    let typed = Typed(
      phone: fields["phone"] ?? "", day: fields["day"] ?? "",
      hasConsented: !(fields["consent"] ?? "").isEmpty)
    let report: ValidatedUserReport
    do throws(VerificationFailure) {
      report = try ValidatedUserReport(
        phone: typed.phone, testDate: typed.day, now: reports.codeIssuer.clock.now)
    } catch {
      return form(in: language, typed, fault: error.errorCode == .missingPhone ? .phone : .day)
    }
    guard typed.hasConsented else { return form(in: language, typed, fault: .consent) }
    return try await accept(report, language, context)
  }

  private func accept(
    _ report: ValidatedUserReport, _ language: ReportLanguage, _ context: QuietContext
  ) async throws -> Response {
    do {
      guard !reports.codeIssuer.policy.isInMaintenance else {
        throw QuietRefusal.unavailable(retryAfterSeconds: QuietLimit.retryAfterSeconds)
      }
      _ = try await reports.accept(report, under: nil, in: context)
    } catch let refusal as QuietRefusal {
      return form(in: language, fault: .refused(Self.text(of: refusal), refusal))
    }
    return page(in: language, ["isSent": true], status: .ok)
  }

  private static func text(of refusal: QuietRefusal) -> ReportText {
    switch refusal {
    case .quotaUsedUp: .usedUp
    case .tooManyAttempts: .tooMany
    default: .failed
    }
  }

  private func fields(
    of request: Request, _ context: QuietContext
  ) async throws(QuietRefusal) -> [String: String] {
    let body = try await bodies.body(
      of: request, in: context, types: ["application/x-www-form-urlencoded"],
      limit: BodyLimit(
        bytesMax: VerificationLimit.bodyBytesMax, secondsMax: VerificationLimit.bodySecondsMax))
    do throws(MalformedForm) {
      return Dictionary(
        try URLEncodedForm.fields(body, fieldsMax: VerificationLimit.reportFieldsMax)
          .map { ($0.name, $0.value.trimmingCharacters(in: .whitespacesAndNewlines)) }
      ) { $1 }
    } catch {
      throw .malformed
    }
  }

  /// False for a form of another site, which could make a browser send SMS. Browsers state the site in headers that
  /// pages cannot change.
  private func isFromThisPage(_ request: Request) -> Bool {
    let origin = FormOrigin(of: request)
    guard origin.sites.isEmpty else { return origin.isSameSite(allowsTyped: true) }
    return origin.isOwn { FormOrigin.authority(of: $0) == request.head.authority }
  }

  // MARK: - Pages

  private func form(
    in language: ReportLanguage, _ typed: Typed = Typed(), fault: Fault? = nil
  ) -> Response {
    let today = CalendarDay(
      reports.codeIssuer.clock.now.addingTimeInterval(
        VerificationLimit.timeZoneMinutes.upperBound * 60))
    var values: [String: Any] = [
      "isForm": true, "phone": typed.phone, "day": typed.day, "consent": typed.hasConsented,
      "today": today.text,
      "firstDay": CalendarDay(number: today.number - VerificationLimit.symptomAgeDaysMax).text,
    ]
    var status = HTTPResponse.Status.ok
    var retryAfterSeconds: Int?
    switch fault {
    case .phone: values["phoneFault"] = language[.badPhone]
    case .day: values["dayFault"] = language[.badDay]
    case .consent: values["consentFault"] = language[.noConsent]
    case .refused(let text, let refusal):
      values["fault"] = language[text]
      (status, retryAfterSeconds) = (refusal.status, refusal.retryAfterSeconds)
    case nil: break
    }
    if let fault, case .refused = fault {} else if fault != nil { status = .unprocessableContent }
    var response = page(in: language, values, status: status)
    if let retryAfterSeconds { response.headers[.retryAfter] = "\(retryAfterSeconds)" }
    return response
  }

  private func page(
    in language: ReportLanguage, _ values: [String: Any], status: HTTPResponse.Status
  ) -> Response {
    var values = values
    values["language"] = language.rawValue
    values["t"] = language.texts
    values["languages"] = ReportLanguage.allCases.map { other -> [String: Any] in
      ["code": other.rawValue, "name": other.name, "isCurrent": other == language]
    }
    var response = Response(
      status: status,
      headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: layout.render(values))))
    response.headers[.contentSecurityPolicy] = Self.policy.header
    // Without a referrer, browsers would send the form with the origin `null`.
    response.isolate(referrerPolicy: "same-origin")
    return response
  }
}

/// The template of the page, and its style.
enum ReportTemplate {
  static let page = """
    <!doctype html>
    <html lang="{{language}}">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>{{#isSent}}{{t.sentTitle}}{{/isSent}}{{#isForm}}{{t.title}}{{/isForm}}</title>
    <link rel="stylesheet" href="/report.css">
    </head>
    <body>
    <nav aria-label="{{t.languages}}"><ul>
    {{#languages}}<li><a href="/report?lang={{code}}" lang="{{code}}" hreflang="{{code}}"\
    {{#isCurrent}} aria-current="true"{{/isCurrent}}>{{name}}</a></li>{{/languages}}
    </ul></nav>
    <main>
    {{#isSent}}
    <h1>{{t.sentTitle}}</h1>
    <p role="status" id="sent">{{t.sent}}</p>
    <p>{{t.sentWait}}</p>
    {{/isSent}}
    {{#isForm}}
    <h1>{{t.title}}</h1>
    <p>{{t.lead}}</p>
    {{#fault}}<p class="fault" role="alert" id="fault">{{fault}}</p>{{/fault}}
    <form method="post" action="/report">
    <input type="hidden" name="lang" value="{{language}}">
    <label for="phone">{{t.phone}}</label>
    <p class="help" id="phone-help">{{t.phoneHelp}}</p>
    {{#phoneFault}}<p class="fault" role="alert" id="phone-fault">{{phoneFault}}</p>{{/phoneFault}}
    <input id="phone" name="phone" type="tel" autocomplete="tel" required value="{{phone}}"\
     aria-describedby="phone-help{{#phoneFault}} phone-fault{{/phoneFault}}"\
    {{#phoneFault}} aria-invalid="true"{{/phoneFault}}>
    <label for="day">{{t.day}}</label>
    {{#dayFault}}<p class="fault" role="alert" id="day-fault">{{dayFault}}</p>{{/dayFault}}
    <input id="day" name="day" type="date" required min="{{firstDay}}" max="{{today}}" value="{{day}}"\
    {{#dayFault}} aria-invalid="true" aria-describedby="day-fault"{{/dayFault}}>
    {{#consentFault}}<p class="fault" role="alert" id="consent-fault">{{consentFault}}</p>{{/consentFault}}
    <label class="choice"><input id="consent" type="checkbox" name="consent" value="yes" required\
    {{#consent}} checked{{/consent}}\
    {{#consentFault}} aria-invalid="true" aria-describedby="consent-fault"{{/consentFault}}> {{t.consent}}</label>
    <button id="send">{{t.send}}</button>
    </form>
    <h2>{{t.storedTitle}}</h2>
    <p>{{t.stored}}</p>
    {{/isForm}}
    </main>
    </body>
    </html>
    """

  static let style = """
    :root { color-scheme: light dark; --text: #1b1f24; --surface: #fff; --muted: #505a66; --line: #767f8a;
      --accent: #0b5cad; --on-accent: #fff; --danger: #a3161f; --danger-tint: #fdecec; }
    @media (prefers-color-scheme: dark) { :root { --text: #e8ebef; --surface: #14181d; --muted: #b1bac4;
      --line: #8b95a1; --accent: #7db8f5; --on-accent: #0d1116; --danger: #ffb4b0; --danger-tint: #3b1719; } }
    * { box-sizing: border-box; }
    body { margin: 0 auto; max-width: 38rem; padding: 1rem; background: var(--surface); color: var(--text);
      font: 1.0625rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
    nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: 0; padding: 0; }
    a { color: var(--accent); display: inline-block; padding: .5rem 0; }
    a[aria-current] { color: var(--text); font-weight: 600; text-decoration: none; }
    h1 { font-size: 1.625rem; line-height: 1.25; margin: 1rem 0 .5rem; }
    h2 { font-size: 1.125rem; margin: 2rem 0 .25rem; }
    label { display: block; font-weight: 600; margin: 1.25rem 0 .25rem; }
    .choice { font-weight: 400; padding-left: 1.875rem; text-indent: -1.875rem; }
    .choice input { width: 1.25rem; height: 1.25rem; margin: 0 .5rem 0 0; vertical-align: -.2em; }
    .help { color: var(--muted); margin: 0 0 .25rem; }
    input[type=tel], input[type=date] { font: inherit; color: inherit; background: var(--surface); width: 100%;
      min-height: 2.875rem; padding: .5rem .75rem; border: 1.5px solid var(--line); border-radius: .5rem; }
    button { font: inherit; font-weight: 600; min-height: 2.875rem; padding: .5rem 1.25rem; margin-top: 1.25rem;
      border: 0; border-radius: .625rem; background: var(--accent); color: var(--on-accent); cursor: pointer; }
    .fault { background: var(--danger-tint); color: var(--danger); border-left: 4px solid; border-radius: .5rem;
      padding: .75rem 1rem; margin: .5rem 0; }
    :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
    """
}
