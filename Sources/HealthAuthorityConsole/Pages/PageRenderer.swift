// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Mustache
import NIOCore

/// Renders pages and gives them their headers.
struct PageRenderer: Sendable {
  private let layout: MustacheTemplate
  private let templates: [PageTemplate: MustacheTemplate]

  /// - Throws: If a template is invalid (a programming error).
  init() throws {
    layout = try MustacheTemplate(string: LayoutTemplate.layout)
    templates = try Dictionary(
      uniqueKeysWithValues: PageTemplate.allCases.map {
        ($0, try MustacheTemplate(string: $0.text))
      })
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
    response.headers[.contentSecurityPolicy] =
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self';"
      + " base-uri 'none'; frame-ancestors 'none'"
    for (name, value) in [
      // Without a referrer, browsers would send the forms of the console with the origin `null`.
      ("x-frame-options", "DENY"), ("referrer-policy", "same-origin"),
      ("cross-origin-opener-policy", "same-origin"),
      ("cross-origin-resource-policy", "same-origin"),
    ] {
      if let name = HTTPFields.Element.Name(name) { response.headers[name] = value }
    }
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
          "next": visit.request.method == .get ? path : "/",
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

/// A page: its title, its template and the values in it.
struct Page {
  let title: String
  let template: PageTemplate
  var values: [String: Any] = [:]
  var status = HTTPResponse.Status.ok

  init(
    _ title: String, _ template: PageTemplate, _ values: [String: Any] = [:],
    status: HTTPResponse.Status = .ok
  ) {
    self.title = title
    self.template = template
    self.values = values
    self.status = status
  }
}

/// The pages in the menu and on the start page.
struct MenuEntry: Sendable {
  let path: String
  let title: TextKey
  let text: TextKey
  /// Nil for every account.
  let right: Right?

  static let all = [
    MenuEntry(path: "/codes/new", title: .issueTitle, text: .issueCard, right: .issueCodes),
    MenuEntry(path: "/codes/batch", title: .batchTitle, text: .batchCard, right: .issueCodes),
    MenuEntry(path: "/codes/status", title: .statusTitle, text: .statusCard, right: .issueCodes),
    MenuEntry(path: "/funnel", title: .funnelTitle, text: .funnelCard, right: .readStatistics),
    MenuEntry(path: "/exports", title: .exportsTitle, text: .exportsCard, right: .readStatistics),
    MenuEntry(
      path: "/configuration", title: .configurationTitle, text: .configurationCard,
      right: .changeConfiguration),
    MenuEntry(path: "/phones", title: .phonesTitle, text: .phonesCard, right: .operatePhones),
    MenuEntry(path: "/keys", title: .keysTitle, text: .keysCard, right: .administerKeys),
    MenuEntry(
      path: "/accounts", title: .accountsTitle, text: .accountsCard, right: .administerAccounts),
    MenuEntry(path: "/audit", title: .auditTitle, text: .auditCard, right: .readAudit),
    MenuEntry(path: "/own", title: .ownTitle, text: .ownCard, right: nil),
  ]

  static func entries(for role: Role) -> [MenuEntry] {
    all.filter { entry in entry.right.map(role.rights.contains) ?? true }
  }
}

/// The templates of the pages. Mustache escapes all values but those in three braces, which are pictures and rendered
/// templates.
enum PageTemplate: String, CaseIterable, Sendable {
  case message, home, signIn, start, link, own, accounts, audit
  case issue, issued, batch, batchResult, codeStatus
  case funnel, exports, configuration, preview
  case phones, keys, secret

  var text: String {
    switch self {
    case .message: LayoutTemplate.message
    case .home: LayoutTemplate.home
    case .signIn: SignInTemplates.signIn
    case .start: AccountTemplates.start
    case .link: AccountTemplates.link
    case .own: OwnAccountTemplates.own
    case .accounts: AccountTemplates.accounts
    case .audit: AuditTemplates.audit
    case .issue: CodeTemplates.issue
    case .issued: CodeTemplates.issued
    case .batch: BatchTemplates.batch
    case .batchResult: BatchTemplates.batchResult
    case .codeStatus: CodeTemplates.status
    case .funnel: ObservationTemplates.funnel
    case .exports: ObservationTemplates.exports
    case .configuration: ConfigurationTemplates.configuration
    case .preview: ConfigurationTemplates.preview
    case .phones: PhoneTemplates.phones
    case .keys: KeyTemplates.keys
    case .secret: KeyTemplates.secret
    }
  }
}

/// The frame of all pages, the start page and the page for messages.
enum LayoutTemplate {
  static let layout = """
    <!doctype html>
    <html lang="{{language}}">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>{{title}} – {{t.console}}</title>
    <link rel="stylesheet" href="/style.css">
    </head>
    <body>
    <a class="skip" href="#content">{{t.skip}}</a>
    <header class="bar">
    <p class="brand"><a href="/">{{t.console}}</a></p>
    <nav class="languages" aria-label="{{t.languageSwitch}}"><ul>
    {{#languages}}
    <li><a id="language-{{code}}" href="/language/{{code}}?next={{next}}" lang="{{code}}" hreflang="{{code}}"\
    {{#isCurrent}} aria-current="true"{{/isCurrent}}>{{name}}</a></li>
    {{/languages}}
    </ul></nav>
    {{#session}}
    <form class="sign-out" method="post" action="/sign-out">
    <p id="signed-in">{{text}}</p>
    <input type="hidden" name="form-token" value="{{formToken}}">
    <button id="sign-out" class="quiet">{{t.signOut}}</button>
    </form>
    {{/session}}
    </header>
    <div class="columns{{^session}} single{{/session}}">
    {{#session}}
    <nav class="menu" aria-label="{{t.menu}}"><ul>
    {{#menu}}
    <li><a href="{{path}}"{{#isCurrent}} aria-current="page"{{/isCurrent}}>{{title}}</a></li>
    {{/menu}}
    </ul></nav>
    {{/session}}
    <main id="content" tabindex="-1">
    {{{content}}}
    </main>
    </div>
    </body>
    </html>
    """

  static let message = """
    <h1>{{title}}</h1>
    <p class="lead" id="message">{{text}}</p>
    {{#signIn}}<p><a class="button primary" href="/sign-in">{{t.toSignIn}}</a></p>{{/signIn}}
    {{#home}}<p><a class="button" href="/">{{t.toStart}}</a></p>{{/home}}
    """

  static let home = """
    <h1>{{t.home}}</h1>
    <p class="lead">{{t.homeLead}}</p>
    <ul class="cards">
    {{#entries}}
    <li><a href="{{path}}"><strong>{{title}}</strong><span>{{text}}</span></a></li>
    {{/entries}}
    </ul>
    """

  /// The hidden field with the session's CSRF token.
  static let token = """
    <input type="hidden" name="form-token" value="{{formToken}}">
    """

  /// The start tag of a section that scrolls horizontally on a small display, also with the keyboard.
  ///
  /// - Parameter label: The id of its heading or caption.
  static func wide(_ label: String) -> String {
    "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-labelledby=\"\(label)\">"
  }

  /// The result of the last step, announced by screen readers.
  static let notices = """
    {{#fault}}<p class="fault" role="alert" id="fault">{{fault}}</p>{{/fault}}
    {{#notice}}<p class="notice" role="status" id="notice">{{notice}}</p>{{/notice}}
    """
}
