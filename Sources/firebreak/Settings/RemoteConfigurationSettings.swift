import KeyServerAPI

/// What phones are told, in the words of the wire. A phone passes over what it cannot read; here it is refused.
///
/// Documentation/SeedContract.md 6.
struct RemoteConfigurationSettings: Codable {
  var configuration = RemoteConfiguration(version: 1)

  /// ProteGO Safe's, as the first version.
  init() {}

  init(from decoder: any Decoder) throws {
    let said = try JSONTree(from: decoder)
    configuration = try RemoteConfiguration(from: decoder)
    let place = decoder.codingPath.place
    let taken = try JSONTree.of(configuration)
    if let path = said.firstNotTaken(in: taken) {
      let field = ([place] + path).joined(separator: ".")
      throw CommandFailure.badInput(
        "\(field.printable) is no setting, or of the wrong type: correct it.")
    }
    if let fault = configuration.fault { throw CommandFailure.badInput("\(place).\(fault)") }
    // Without one it is 0, and phones that have any would keep theirs.
    guard configuration.version >= 1 else {
      throw CommandFailure.badInput("\(place).version must be 1 or more: count it up.")
    }
  }

  func encode(to encoder: any Encoder) throws {
    try configuration.encode(to: encoder)
  }
}
