import ExposureKeys

/// A variant of concern by its number in the key file.
struct VariantOfConcernJSON: Decodable {
  let value: VariantOfConcern

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let number = try? container.decode(UInt8.self),
      let value = VariantOfConcern(rawValue: number)
    else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "a variant of concern is a number from 0 to 4")
    }
    self.value = value
  }
}
