// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Logging
import QuietHTTP
import Secrets
import ServerStorage
import WebPages

/// Adds pages to a router. It finds the language and the session of a request, checks rights and the origin of forms,
/// and turns every error into one clear page.
struct PageRouter: Sendable {
  typealias Show = @Sendable (Visit) async throws -> Response
  typealias Take = @Sendable (Visit, Form) async throws -> Response

  /// The accounts that may use a page.
  enum Access: Sendable {
    /// Also without an account.
    case everyone
    /// Every account.
    case signedIn
    /// The accounts that have one of the rights.
    case anyHolder(of: Set<Right>)

    static func holders(of right: Right) -> Self { .anyHolder(of: [right]) }
  }

  let sessions: SessionStore
  let renderer: PageRenderer
  /// The origin of the console; nil for `http://localhost` with the port of the server.
  let origin: String?
  private let bodies = RequestBodies()
  private let polish: Texts
  private let english: Texts

  static let languageCookie = "firebreak-console-language"
  static let formTokenField = "form-token"

  /// - Parameter zone: The time zone of the office.
  init(sessions: SessionStore, renderer: PageRenderer, origin: String?, zone: TimeZone) {
    self.sessions = sessions
    self.renderer = renderer
    self.origin = origin
    polish = Texts(.polish, zone: zone)
    english = Texts(.english, zone: zone)
  }

  /// Adds a page.
  func get(_ router: Router<QuietContext>, _ path: String, _ access: Access, _ show: @escaping Show)
  {
    router.get(RouterPath(path)) { request, context in
      await respond(request, context) { visit in
        try check(access, visit)
        return try await show(visit)
      }
    }
  }

  /// Adds a form.
  ///
  /// - Parameter keep: The page with the content of the form if its session has ended or is another one; nil for a
  ///   refusal. Nothing is done then.
  func post(
    _ router: Router<QuietContext>, _ path: String, _ access: Access, keep: Take? = nil,
    _ take: @escaping Take
  ) {
    router.post(RouterPath(path)) { request, context in
      await respond(request, context) { visit in
        try checkOrigin(visit)
        do throws(PageRefusal) { try check(access, visit) } catch {
          guard error == .sessionEnded, let keep else { throw error }
          return try await keep(visit, try await form(of: visit))
        }
        try checkFreshness(access, visit)
        let form = try await form(of: visit)
        if case .everyone = access {
        } else {
          do throws(PageRefusal) { try checkToken(form, visit) } catch {
            guard let keep else { throw error }
            return try await keep(visit, form)
          }
        }
        return try await take(visit, form)
      }
    }
  }

  private func form(of visit: Visit) async throws -> Form {
    let body = try await bodies.body(
      of: visit.request, in: visit.context, types: [Form.urlEncodedType, Form.multipart],
      limit: BodyLimit(bytesMax: ConsoleLimit.formBytesMax))
    return try Form(
      body, contentType: visit.request.headers[.contentType],
      fieldsMax: ConsoleLimit.formFieldsMax)
  }

  /// The page for an address that does not exist.
  func notFound(_ request: Request, _ context: QuietContext) async -> Response {
    await respond(request, context) { _ in throw PageRefusal.notFound }
  }

  /// The page for a request that names another host.
  func otherHost(_ request: Request, _ context: QuietContext) async -> Response {
    await respond(request, context, withSession: false) { _ in throw PageRefusal.otherHost }
  }

  /// The session cookie for the scheme and the port of the server.
  func cookie(for context: QuietContext) -> SessionCookie {
    SessionCookie(
      isEncrypted: origin?.hasPrefix("https:") ?? false, port: context.serverPort ?? 0)
  }

  // MARK: - Requests

  private func respond(
    _ request: Request, _ context: QuietContext, withSession: Bool = true,
    _ work: (Visit) async throws -> Response
  ) async -> Response {
    var visit = Visit(
      request: request, context: context,
      texts: language(of: request) == .polish ? polish : english, session: nil,
      origin: origin(of: context))
    do {
      if withSession { visit.session = try await session(of: request, context) }
      return try await work(visit)
    } catch {
      let refusal = PageRefusal(error)
      // At the end of the console, requests that wait are cancelled.
      if [.internalError, .databaseLost].contains(refusal), !(error is CancellationError) {
        context.logger.error("page failed", metadata: ["cause": "\(Self.cause(of: error))"])
      }
      return response(refusal, visit)
    }
  }

  private static func cause(of error: any Error) -> String {
    (error as? ServerDatabaseError)?.message(of: ConsoleDatabase.schema.name)
      ?? ErrorCause.text(error)
  }

  private func response(_ refusal: PageRefusal, _ visit: Visit) -> Response {
    if case .signInNeeded(let next) = refusal {
      return PageRenderer.redirection(to: "/sign-in?next=\(Self.encoded(next))")
    }
    let words = refusal.words(visit.texts)
    var values: [String: Any] = ["title": words.title, "text": words.text]
    values[visit.session == nil || refusal == .oldSignIn ? "signIn" : "home"] = true
    var response = renderer.response(
      Page(words.title, .message, values, status: refusal.status), for: visit)
    if case .sessionEnded = refusal {
      response.headers[.setCookie] = cookie(for: visit.context).removal
    }
    if case .tooManyAttempts(let seconds) = refusal {
      response.headers[.retryAfter] = "\(seconds)"
    }
    return response
  }

  private func session(of request: Request, _ context: QuietContext) async throws -> Session? {
    guard let token = cookie(for: context).token(in: request.headers[.cookie]) else { return nil }
    return try await sessions.session(token)
  }

  private func check(_ access: Access, _ visit: Visit) throws(PageRefusal) {
    if case .everyone = access { return }
    guard let session = visit.session else {
      let hasCookie =
        cookie(for: visit.context).token(in: visit.request.headers[.cookie]) != nil
      guard !hasCookie, visit.request.method == .get else { throw .sessionEnded }
      throw .signInNeeded(next: visit.address)
    }
    if case .anyHolder(let rights) = access, session.account.role.rights.isDisjoint(with: rights) {
      throw .forbidden(session.account.role)
    }
  }

  private func checkFreshness(_ access: Access, _ visit: Visit) throws(PageRefusal) {
    guard case .anyHolder(let rights) = access, rights.contains(where: \.needsFreshSignIn),
      let session = visit.session, !sessions.isFresh(session)
    else { return }
    throw .oldSignIn
  }

  // MARK: - Forgeries

  /// Checks the headers in which a browser states the origin of a form; pages cannot change them.
  private func checkOrigin(_ visit: Visit) throws(PageRefusal) {
    let origin = FormOrigin(of: visit.request)
    guard origin.isSameSite(allowsTyped: true),
      origin.isOwn({ $0 == visit.origin || isThisMachine($0, visit) })
    else { throw .forged }
  }

  /// True for another name of this machine, if the console has no public origin. `Host` alone proves nothing, because
  /// of DNS rebinding: an attacker's name can resolve to the console's address.
  private func isThisMachine(_ sent: String, _ visit: Visit) -> Bool {
    guard origin == nil, let url = URL(string: sent), url.scheme == "http", url.isEncryptedOrLocal
    else { return false }
    return url.port == visit.context.serverPort
  }

  private func checkToken(_ form: Form, _ visit: Visit) throws(PageRefusal) {
    guard let session = visit.session,
      isEqualInConstantTime(form[Self.formTokenField].utf8, session.formToken.utf8)
    else { throw .forged }
  }

  // MARK: - Language and origin

  private func language(of request: Request) -> ConsoleLanguage {
    SessionCookie.value(of: Self.languageCookie, in: request.headers[.cookie])
      .flatMap(ConsoleLanguage.init(rawValue:))
      ?? ConsoleLanguage(accepted: request.headers[.acceptLanguage])
  }

  private func origin(of context: QuietContext) -> String {
    origin ?? "http://localhost:\(context.serverPort ?? 80)"
  }

  /// An address of the console as the value of a query parameter.
  static func encoded(_ address: String) -> String {
    address.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }
}

extension Role {
  /// The name of the role in the texts.
  var textKey: TextKey {
    switch self {
    case .issuer: .roleIssuer
    case .epidemiologist: .roleEpidemiologist
    case .administrator: .roleAdministrator
    }
  }
}
