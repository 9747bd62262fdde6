import Foundation
import Hummingbird
import QuietHTTP

/// Signing keys, API keys, authorities and apps.
struct KeyPages: Sendable {
  let pages: PageRouter
  let authority: any AdministeredAuthority
  let actions: AuditedActions

  func add(to router: Router<QuietContext>) {
    let access = PageRouter.Access.holders(of: .administerKeys)
    pages.get(router, "/keys", access) { try await show($0) }
    pages.post(router, "/keys/rotate", access, rotate)
    pages.post(router, "/keys/api", access, addAPIKey)
    pages.post(router, "/keys/api/revoke", access) { visit, form in
      try await perform(visit, .apiKeyRevoked, form["id"]) { () throws(AuthorityFailure) in
        try await authority.revokeAPIKey(form["id"])
      }
    }
    pages.post(router, "/keys/authorities", access, addAuthority)
    pages.post(router, "/keys/apps", access, addApp)
  }

  private func show(_ visit: Visit, fault: String? = nil) async throws -> Response {
    let texts = visit.texts
    var (servers, remarks): ([[String: Any]], Set<String>) = ([], [])
    for server in SigningServer.allCases {
      let name: TextKey = server == .keys ? .keysOfKeys : .keysOfVerification
      servers.append([
        "server": server.rawValue, "caption": texts[.keysSigningCaption, texts[name]],
        "keys": try await rows(&remarks) { () throws(AuthorityFailure) in
          try await authority.signingKeys(of: server)
        }.map { key in
          [
            "name": [key.id, key.version ?? ""].joined(separator: " "),
            "from": key.validFrom.map(visit.time) ?? "–",
            "until": key.validThru.map(visit.time) ?? "–",
          ]
        },
      ])
    }
    var values: [String: Any] = ["servers": servers]
    values["apiKeys"] = try await rows(&remarks) { () throws(AuthorityFailure) in
      try await authority.apiKeys()
    }.map { key -> [String: Any] in
      [
        "id": key.id, "name": key.name, "kind": key.kind, "isActive": key.revokedAt == nil,
        "state": texts[key.revokedAt == nil ? .keysActive : .keysRevoked],
      ]
    }
    values["authorities"] = try await rows(&remarks) { () throws(AuthorityFailure) in
      try await authority.authorities()
    }.map {
      [
        "issuer": $0.issuer, "audience": $0.audience,
        "keyIDs": $0.keyIDs.joined(separator: ", "),
      ]
    }
    values["apps"] = try await rows(&remarks) { () throws(AuthorityFailure) in
      try await authority.apps()
    }.map {
      [
        "id": $0.id, "regions": $0.regions.joined(separator: ", "),
        "issuers": $0.authorities.joined(separator: ", "),
      ]
    }
    if !remarks.isEmpty { values["notice"] = remarks.sorted().joined(separator: " ") }
    if let fault { values["fault"] = fault }
    return pages.renderer.response(
      Page(texts[.keysTitle], .keys, values, status: fault == nil ? .ok : .unprocessableContent),
      for: visit)
  }

  /// The rows of a table. If their server has no data in the folder of this console, adds a remark and returns no rows.
  private func rows<Row>(
    _ remarks: inout Set<String>, _ load: () async throws(AuthorityFailure) -> [Row]
  ) async throws(AuthorityFailure) -> [Row] {
    do { return try await load() } catch {
      guard case .notOffered(let message) = error else { throw error }
      remarks.insert(message)
      return []
    }
  }

  private func rotate(_ visit: Visit, _ form: Form) async throws -> Response {
    guard let server = SigningServer(rawValue: form["server"]) else { throw PageRefusal.malformed }
    return try await perform(visit, .signingKeyRotated, server.rawValue) {
      () throws(AuthorityFailure) in try await authority.rotateSigningKey(of: server)
    }
  }

  private func addAPIKey(_ visit: Visit, _ form: Form) async throws -> Response {
    let name = form["name"]
    guard let kind = APIKeyFacts.Kind(rawValue: form["kind"]), !name.isEmpty else {
      throw PageRefusal.malformed
    }
    let key = try await actions.perform(
      AuditEvent(visit.account.name, .apiKeyAdded, name, detail: kind.rawValue)
    ) { () throws(AuthorityFailure) in try await authority.addAPIKey(kind, name: name) }
    let title = visit.texts[.keysNewAPI, name]
    return pages.renderer.response(
      Page(title, .secret, ["title": title, "secret": key]), for: visit)
  }

  private func addAuthority(_ visit: Visit, _ form: Form) async throws -> Response {
    let facts = AuthorityFacts(
      issuer: form["issuer"], audience: form["audience"], keyIDs: [form["key-id"]])
    return try await perform(visit, .authorityAdded, facts.issuer, detail: form["key-id"]) {
      () throws(AuthorityFailure) in
      try await authority.add(facts, publicKeyPEM: form["pem"] + "\n")
    }
  }

  private func addApp(_ visit: Visit, _ form: Form) async throws -> Response {
    func list(_ name: String) -> [String] {
      form[name].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    let facts = AppFacts(
      id: form["app"], regions: list("regions"), authorities: list("authorities"))
    return try await perform(visit, .appAdded, facts.id, detail: form["regions"]) {
      () throws(AuthorityFailure) in try await authority.add(facts)
    }
  }

  private func perform(
    _ visit: Visit, _ action: AuditAction, _ subject: String, detail: String = "",
    _ work: () async throws(AuthorityFailure) -> Void
  ) async throws -> Response {
    do {
      try await actions.perform(
        AuditEvent(visit.account.name, action, subject, detail: detail), work)
    } catch AuthorityFailure.refused(let message) {
      return try await show(visit, fault: message)
    }
    return PageRenderer.redirection(to: "/keys")
  }
}
