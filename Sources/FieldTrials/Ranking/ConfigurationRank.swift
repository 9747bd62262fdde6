/// How well one configuration tells the phones that raised a high alert from those that raised none.
package struct ConfigurationRank: Sendable {
  /// The configuration.
  package let configuration: PublishedConfiguration
  /// The area under the curve; nil where one of the groups is empty.
  package let areaUnderCurve: Double?

  /// The better first; those that are equal by name.
  static func best(_ left: ConfigurationRank, _ right: ConfigurationRank) -> Bool {
    let (first, second) = (left.areaUnderCurve ?? 0, right.areaUnderCurve ?? 0)
    return first == second ? left.configuration.name < right.configuration.name : first > second
  }
}
