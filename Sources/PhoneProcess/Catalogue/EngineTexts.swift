import ExposureApp

// The texts of the engine's notices and failures.
extension Catalogues {
  /// The title and the body of a notice in `language`; `nil` if the catalogues are not installed.
  package func words(
    for cause: Notice.Cause, in language: Language
  ) -> (title: String, body: String)? {
    let key = "notice.\(cause.key)"
    let reason = reason(of: cause, in: language)
    guard let title = text("\(key).title", in: language),
      let body = text("\(key).body", in: language, ["reason": reason])
    else { return nil }
    return (title, body)
  }

  /// The explanation of a failed check in `language`.
  package func text(of failure: CheckFailure, in language: Language) -> String {
    text("failure.check.\(failure.rawValue)", in: language) ?? failure.description
  }

  /// The explanation of a failed upload in `language`.
  package func text(of failure: UploadFailure, in language: Language) -> String {
    text("failure.upload.\(failure.name)", in: language) ?? failure.description
  }

  private func reason(of cause: Notice.Cause, in language: Language) -> String {
    switch cause {
    case .checksFailing(let failure): text(of: failure, in: language)
    case .storage(let condition):
      text("storage.\(condition.rawValue)", in: language) ?? condition.advice ?? ""
    case .damage(let contents): sentences(of: contents, in: language).joined(separator: " ")
    case .risk, .bluetoothOff, .permissionLost: ""
    }
  }

  /// One sentence for each kind of damage; kinds with equal sentences share one.
  private func sentences(of contents: [DataDamage.Content], in language: Language) -> [String] {
    contents.reduce(into: []) { sentences, content in
      guard let text = text("damage.\(content.rawValue)", in: language), !sentences.contains(text)
      else { return }
      sentences.append(text)
    }
  }
}

extension Notice.Cause {
  /// The part of the keys of its texts: the kind, and the level of a risk.
  package var key: String {
    guard case .risk(let level) = self else { return identifier.rawValue }
    return "\(identifier.rawValue).\(level)"
  }
}

extension UploadFailure {
  /// The name of the case, without the values.
  package var name: String {
    switch self {
    case .invalidPIN: "invalidPIN"
    case .alreadyRunning: "alreadyRunning"
    case .paused: "paused"
    case .notAgreed: "notAgreed"
    case .notEnabled: "notEnabled"
    case .keysUnreadable: "keysUnreadable"
    case .systemFailed: "systemFailed"
    case .nothingToShare: "nothingToShare"
    case .tooManyKeys: "tooManyKeys"
    case .tooManyKeysOfOneDay: "tooManyKeysOfOneDay"
    case .keysOutOfOrder: "keysOutOfOrder"
    case .noDeviceToken: "noDeviceToken"
    case .pinRefused: "pinRefused"
    case .uploadRefused: "uploadRefused"
    case .noInternet: "noInternet"
    case .stopped: "stopped"
    case .locked: "locked"
    case .serverBusy: "serverBusy"
    case .storage: "storage"
    }
  }
}
