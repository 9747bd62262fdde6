// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import TextEncodings

/// The texts of one language: flat keys, placeholders such as `{name}`. The pages choose among plural forms
/// such as `key#one`.
package struct Catalogue: Codable, Hashable, Sendable {
  /// The language.
  package let language: Language
  /// The name of the language in itself.
  package let name: String
  /// The texts by their keys.
  package let texts: [String: String]

  /// The text of `key` with its placeholders replaced; `nil` if there is none.
  package func text(_ key: String, _ parameters: [String: String] = [:]) -> String? {
    texts[key]?.filling(named: parameters)
  }
}

/// The catalogues of all languages, read once.
package struct Catalogues: Sendable {
  private let catalogues: [Language: Catalogue]

  /// The catalogues that are installed beside the program.
  package static let installed = Catalogues(in: folder)

  /// Reads the catalogues in `folder`; one that is missing or not readable is left out.
  init(in folder: URL) {
    catalogues = Dictionary(
      uniqueKeysWithValues: Language.allCases.compactMap { language in
        FileManager.default.contents(atPath: Self.file(of: language, in: folder).path)
          .flatMap { JSONDecoder().decodeIfValid(Catalogue.self, from: $0) }
          .map { (language, $0) }
      })
  }

  /// The JSON of a catalogue, as pages read it; `nil` if it is not installed.
  package static func json(of language: Language) -> Data? {
    FileManager.default.contents(atPath: file(of: language, in: folder).path)
  }

  /// The catalogue of `language`.
  package subscript(language: Language) -> Catalogue? { catalogues[language] }

  /// The text of `key` in `language`, or in English; `nil` if neither has it.
  package func text(
    _ key: String, in language: Language, _ parameters: [String: String] = [:]
  ) -> String? {
    self[language]?.text(key, parameters) ?? self[.english]?.text(key, parameters)
  }

  /// The resources of this target. `Bundle.module` would end the program if they are missing.
  private static var folder: URL {
    Bundle.main.bundleURL.appendingPathComponent("firebreak_PhoneProcess.resources/Texts")
  }

  private static func file(of language: Language, in folder: URL) -> URL {
    folder.appendingPathComponent("\(language.rawValue).json")
  }
}

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
    text("failure.check.\(failure.rawValue)", in: language) ?? failure.rawValue
  }

  /// The explanation of a failed upload in `language`.
  package func text(of failure: UploadFailure, in language: Language) -> String {
    text("failure.upload.\(failure.name)", in: language) ?? failure.description
  }

  /// The explanation in English why the keys of following days could not be shared.
  func followingDaysText(of failure: String) -> String? {
    text("failure.days.\(failure)", in: .english) ?? text("failure.days.other", in: .english)
  }

  private func reason(of cause: Notice.Cause, in language: Language) -> String {
    switch cause {
    case .checksFailing(let failure): text(of: failure, in: language)
    case .storage(let condition):
      text("storage.\(condition.rawValue)", in: language) ?? condition.advice ?? ""
    case .damage(let contents): sentences(of: contents, in: language).joined(separator: " ")
    default: ""
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
  /// The part of the keys of its texts: the kind, and the level of a risk or the end of an upload.
  package var key: String {
    switch self {
    case .risk(let level): "\(identifier.rawValue).\(level)"
    case .uploadFinished: "\(identifier.rawValue).finished"
    case .uploadUnfinished: "\(identifier.rawValue).unfinished"
    case .followingDaysRefused: "\(identifier.rawValue).days"
    default: identifier.rawValue
    }
  }
}

extension CheckFailure {
  /// The explanation in English, for commands.
  var explanation: String { Catalogues.installed.text(of: self, in: .english) }
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
    case .clockWrong: "clockWrong"
    case .keysOfWrongTime: "keysOfWrongTime"
    case .tooManyKeys: "tooManyKeys"
    case .tooManyKeysOfOneDay: "tooManyKeysOfOneDay"
    case .keysOutOfOrder: "keysOutOfOrder"
    case .noDeviceToken: "noDeviceToken"
    case .pinRefused: "pinRefused"
    case .pinUsed: "pinUsed"
    case .uploadRefused: "uploadRefused"
    case .noInternet: "noInternet"
    case .stopped: "stopped"
    case .locked: "locked"
    case .serverBusy: "serverBusy"
    case .storage: "storage"
    }
  }
}
