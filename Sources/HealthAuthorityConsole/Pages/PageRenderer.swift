// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Mustache
import NIOCore
import WebPages

/// Renders pages and gives them their headers.
struct PageRenderer: Sendable {
  private let layout: MustacheTemplate
  private let templates: [PageTemplate: MustacheTemplate]
  private static let policy = ContentPolicy(
    [.styles, .scripts], images: .own, sendsForms: true)
  /// The templates are parsed once for all consoles of the process: that takes most of the time in which one is made.
  private static let parsed = Result {
    try PageRenderer(
      layout: MustacheTemplate(html: LayoutTemplate.layout),
      templates: Dictionary(
        uniqueKeysWithValues: PageTemplate.allCases.map {
          ($0, try MustacheTemplate(html: $0.text))
        }))
  }

  /// - Throws: `ConsoleError` if the texts are not installed, or if a template is invalid (a programming error).
  init() throws {
    try Texts.requireCatalogues()
    self = try Self.parsed.get()
  }

  private init(layout: MustacheTemplate, templates: [PageTemplate: MustacheTemplate]) {
    self.layout = layout
    self.templates = templates
  }

  /// The response with a page.
  func response(_ page: Page, for visit: Visit) -> Response {
    var values = page.values
    values["t"] = visit.texts.all
    values["formToken"] = visit.session?.formToken ?? ""
    let content = templates[page.template]?.render(values) ?? ""
    let html = layout.render(frame(page, content, visit))
    return Self.response(html, type: "text/html; charset=utf-8", status: page.status)
  }

  /// A redirection to another page of the console.
  static func redirection(to path: String, cookie: String? = nil) -> Response {
    var response = Response(status: .seeOther, headers: [.location: path])
    if let cookie { response.headers[.setCookie] = cookie }
    addHeaders(to: &response)
    return response
  }

  /// A file to be stored.
  static func download(_ text: String, name: String, type: String) -> Response {
    var response = response(text, type: type)
    response.headers[.contentDisposition] = "attachment; filename=\"\(name)\""
    return response
  }

  /// A file that belongs to all pages, such as their style.
  static func file(_ text: String, type: String) -> Response {
    var response = response(text, type: type)
    response.headers[.cacheControl] = "no-cache"
    return response
  }

  private static func response(
    _ text: String, type: String, status: HTTPResponse.Status = .ok
  ) -> Response {
    var response = Response(
      status: status, headers: [.contentType: type],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    addHeaders(to: &response)
    return response
  }

  /// Pages must not be stored, shown in frames, or run anything but the console's own script.
  static func addHeaders(to response: inout Response) {
    response.headers[.cacheControl] = "no-store"
    response.headers[.contentSecurityPolicy] = policy.header
    // Without a referrer, browsers would send the forms of the console with the origin `null`.
    response.isolate(referrerPolicy: "same-origin")
  }

  private func frame(_ page: Page, _ content: String, _ visit: Visit) -> [String: Any] {
    let path = visit.request.uri.path
    var frame: [String: Any] = [
      "t": visit.texts.all, "title": page.title, "language": visit.language.rawValue,
      "content": content,
      "languages": ConsoleLanguage.allCases.map { language -> [String: Any] in
        [
          "code": language.rawValue, "name": language.name,
          "isCurrent": language == visit.language,
          // The page of a form cannot be opened again by its address.
          "next": PageRouter.encoded(visit.request.method == .get ? visit.address : "/"),
        ]
      },
    ]
    guard let session = visit.session else { return frame }
    let account = session.account
    frame["session"] =
      [
        "text": visit.texts[.signedInAs, account.name, visit.texts[account.role.textKey]],
        "formToken": session.formToken,
        "menu": MenuEntry.entries(for: account.role).map { entry -> [String: Any] in
          [
            "path": entry.path, "title": visit.texts[entry.title],
            "isCurrent": path == entry.path || path.hasPrefix(entry.path + "/"),
          ]
        },
      ] as [String: Any]
    return frame
  }
}

/// The pages in the menu and on the start page.
struct MenuEntry: Sendable {
  let path: String
  let title: TextKey
  let text: TextKey
  /// The rights of which an account needs one; empty for every account.
  let rights: Set<Right>

  static let all = [
    MenuEntry(path: "/codes/new", title: .issueTitle, text: .issueCard, rights: [.issueCodes]),
    MenuEntry(path: "/codes/batch", title: .batchTitle, text: .batchCard, rights: [.issueCodes]),
    MenuEntry(
      path: "/codes/issued", title: .issuedCodesTitle, text: .issuedCodesCard,
      rights: [.issueCodes]),
    MenuEntry(path: "/codes/status", title: .statusTitle, text: .statusCard, rights: [.issueCodes]),
    MenuEntry(path: "/codes/rules", title: .rulesTitle, text: .rulesCard, rights: [.issueCodes]),
    MenuEntry(path: "/funnel", title: .funnelTitle, text: .funnelCard, rights: [.readStatistics]),
    MenuEntry(
      path: "/officials", title: .officialsTitle, text: .officialsCard, rights: [.readStatistics]),
    MenuEntry(
      path: "/issuers", title: .issuersTitle, text: .issuersCard, rights: [.readStatistics]),
    MenuEntry(
      path: "/exports", title: .exportsTitle, text: .exportsCard, rights: [.readStatistics]),
    MenuEntry(
      path: "/configuration", title: .configurationTitle, text: .configurationCard,
      rights: [.changeConfiguration]),
    MenuEntry(path: "/phones", title: .phonesTitle, text: .phonesCard, rights: [.operatePhones]),
    MenuEntry(path: "/keys", title: .keysTitle, text: .keysCard, rights: [.administerKeys]),
    MenuEntry(
      path: "/accounts", title: .accountsTitle, text: .accountsCard, rights: [.administerAccounts]),
    MenuEntry(
      path: "/changes", title: .changesTitle, text: .changesCard, rights: ConsoleChange.rights),
    MenuEntry(path: "/audit", title: .auditTitle, text: .auditCard, rights: [.readAudit]),
    MenuEntry(path: "/own", title: .ownTitle, text: .ownCard, rights: []),
  ]

  static func entries(for role: Role) -> [MenuEntry] {
    all.filter { $0.rights.isEmpty || !$0.rights.isDisjoint(with: role.rights) }
  }
}

/// The templates of the pages. Mustache escapes all values but those in three braces, which are pictures and rendered
/// templates.
enum PageTemplate: String, CaseIterable, Sendable {
  case message, home, signIn, start, letters, own, accounts, accountImport, audit
  case issue, issued, batch, batchKept, batchResult, smsList, issuedCodes, officials, issuers,
    codeStatus, codeRules
  case funnel, exports, configuration, preview
  case phones, keys, secret, change, changes

  var text: String {
    switch self {
    case .message: LayoutTemplate.message
    case .home: LayoutTemplate.home
    case .signIn: SignInTemplates.signIn
    case .start: AccountTemplates.start
    case .letters: AccountLetter.template
    case .accountImport: AccountImportTemplates.accountImport
    case .own: OwnAccountTemplates.own
    case .accounts: AccountTemplates.accounts
    case .audit: AuditTemplates.audit
    case .issue: CodeTemplates.issue
    case .issued: CodeTemplates.issued
    case .batch: BatchTemplates.batch
    case .batchKept: BatchTemplates.kept
    case .batchResult: BatchTemplates.batchResult
    case .smsList: BatchTemplates.smsList
    case .issuedCodes: IssuedCodeTemplates.issuedCodes
    case .officials: IssuedCodeTemplates.officials
    case .issuers: IssuedCodeTemplates.issuers
    case .codeStatus: CodeTemplates.status
    case .codeRules: CodeRuleTemplates.rules
    case .funnel: ObservationTemplates.funnel
    case .exports: ObservationTemplates.exports
    case .configuration: ConfigurationTemplates.configuration
    case .preview: ConfigurationTemplates.preview
    case .phones: PhoneTemplates.phones
    case .keys: KeyTemplates.keys
    case .secret: KeyTemplates.secret
    case .change: ChangeTemplates.change
    case .changes: ChangeTemplates.changes
    }
  }
}
