/// A `Permission` as it lies on the disk, under its seal.
struct StoredPermission: Codable {
  let authorization: Int
  let isEnabled: Bool

  init(_ permission: Permission) {
    authorization = permission.authorization.rawValue
    isEnabled = permission.isEnabled
  }

  var permission: Permission {
    Permission(
      authorization: ENAuthorizationStatus(rawValue: authorization) ?? .unknown,
      isEnabled: isEnabled)
  }
}
