/// The sending of codes by SMS.
public struct SMSConfiguration: Sendable {
  /// The transport of the texts.
  public var sender: any SMSSending
  /// The texts by label, with the variables `[region]`, `[code]`, `[expires]`, `[longcode]`,
  /// `[longexpires]` and `[enslink]`; each must contain a code.
  public var templates: [String: String]
  /// The label of the template for requests that name none, and for user reports.
  public var defaultTemplate: String
  /// The region of `[region]` and of links, such as `PL` or `US-WA`.
  public var region: String
  /// The domain of links `https://<region>.<domain>/v?c=…`; `nil` for links `ens://v?…`.
  public var linkDomain: String?
  /// Signs texts, so that phones can detect forged ones; `nil` for unsigned texts.
  public var signer: SMSSigner?

  /// A configuration with one template.
  public init(
    sender: any SMSSending, region: String, template: String = Self.standardTemplate,
    linkDomain: String? = nil, signer: SMSSigner? = nil
  ) {
    self.sender = sender
    self.region = region
    templates = [Self.standardLabel: template]
    defaultTemplate = Self.standardLabel
    self.linkDomain = linkDomain
    self.signer = signer
  }

  /// The label of the first template.
  public static let standardLabel = "Default SMS template"
  /// The default template.
  public static let standardTemplate =
    "Your exposure notification code. Open the link, it is good for [longexpires] hours: [enslink]"

  /// The domain of links in lower case.
  var linkHost: String? { linkDomain.map { "\(region.lowercased()).\($0)" } }

  /// - Throws: `VerificationServerError.badConfiguration`, which names the field.
  func validate() throws {
    guard region.wholeMatch(of: #/[A-Z]{2}(-[A-Z0-9]{1,3})?/#) != nil else {
      throw VerificationServerError.badConfiguration(
        "sms.region: must be a country or a subdivision, such as PL or US-WA.")
    }
    guard linkDomain.map(Self.isDomain) ?? true else {
      throw VerificationServerError.badConfiguration(
        "sms.linkDomain: must be a domain name, such as en.example.")
    }
    try validateTemplates()
  }

  /// True for two or more labels of letters, digits and hyphens with dots between them (RFC 1035).
  private static func isDomain(_ text: String) -> Bool {
    let label = #/[a-z0-9]([a-z0-9\-]{0,61}[a-z0-9])?/#.ignoresCase()
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    return text.utf8.count <= VerificationLimit.smsDomainBytesMax && labels.count >= 2
      && labels.allSatisfy { $0.wholeMatch(of: label) != nil }
  }

  private func validateTemplates() throws {
    guard templates.count <= VerificationLimit.smsTemplatesMax,
      templates.keys.allSatisfy({ VerificationLimit.smsLabelCharacters.contains($0.count) })
    else {
      throw VerificationServerError.badConfiguration(
        "sms.templates: must be at most \(VerificationLimit.smsTemplatesMax), each with a label of at"
          + " most \(VerificationLimit.smsLabelCharacters.upperBound) characters.")
    }
    guard templates[defaultTemplate] != nil else {
      throw VerificationServerError.badConfiguration(
        "sms.defaultTemplate: must be the label of one of the templates.")
    }
    for (label, text) in templates {
      guard text.count <= VerificationLimit.smsTemplateCharactersMax,
        ["[code]", "[longcode]", "[enslink]"].contains(where: text.contains)
      else {
        throw VerificationServerError.badConfiguration(
          "sms.templates[\(label)]: must contain [code], [longcode] or [enslink], and have at most"
            + " \(VerificationLimit.smsTemplateCharactersMax) characters.")
      }
    }
  }
}
