extension Texts {
  /// The actions of the audit log in words. The log itself has their raw values.
  static let actionPhrases: [AuditAction: Phrase] = [
    .signedIn: Phrase("signed in", "zalogowanie"),
    .signInFailed: Phrase("sign-in refused", "odmowa logowania"),
    .nameLocked: Phrase("name locked", "blokada nazwy"),
    .signedOut: Phrase("signed out", "wylogowanie"),
    .accountAdded: Phrase("account added", "dodanie konta"),
    .accountDisabled: Phrase("account disabled", "wyłączenie konta"),
    .accountEnabled: Phrase("account enabled", "włączenie konta"),
    .linkMade: Phrase("link made", "utworzenie linku"),
    .credentialsSet: Phrase("password and code app set", "ustawienie hasła i aplikacji z kodami"),
    .passkeyAdded: Phrase("passkey added", "dodanie klucza dostępu"),
    .passkeyRemoved: Phrase("passkey removed", "usunięcie klucza dostępu"),
    .codeIssued: Phrase("code issued", "wydanie kodu"),
    .batchIssued: Phrase("list of codes issued", "wydanie listy kodów"),
    .codeExpired: Phrase("code ended", "unieważnienie kodu"),
    .codeLookedUp: Phrase("code looked up", "sprawdzenie kodu"),
    .proposed: Phrase("configuration proposed", "propozycja konfiguracji"),
    .approved: Phrase("configuration approved", "zatwierdzenie konfiguracji"),
    .rejected: Phrase("configuration rejected", "odrzucenie konfiguracji"),
    .paused: Phrase("phones paused", "wstrzymanie telefonów"),
    .resumed: Phrase("phones resumed", "wznowienie telefonów"),
    .withdrawn: Phrase("key file withdrawn", "wycofanie pliku kluczy"),
    .restored: Phrase("withdrawal undone", "cofnięcie wycofania"),
    .signingKeyRotated: Phrase("signing key rotated", "wymiana klucza podpisu"),
    .apiKeyAdded: Phrase("API key added", "dodanie klucza API"),
    .apiKeyRevoked: Phrase("API key revoked", "unieważnienie klucza API"),
    .authorityAdded: Phrase("authority added", "dodanie organu"),
    .appAdded: Phrase("app added", "dodanie aplikacji"),
    .auditExported: Phrase("audit log exported", "eksport dziennika"),
    .failed: Phrase("action failed", "niepowodzenie działania"),
  ]

  /// An action in words; the raw value if it has none.
  func action(_ rawValue: String) -> String {
    AuditAction(rawValue: rawValue).flatMap { Self.actionPhrases[$0]?[language] } ?? rawValue
  }
}
