/// A `Permission` as it lies on the disk, under its seal.
struct StoredPermission: Codable {
  let authorization: Int
  let isEnabled: Bool
  /// Absent in files of phones that never asked.
  let showsTravel: Bool?
  let preAuthorization: PreAuthorization?

  init(_ permission: Permission) {
    authorization = permission.authorization.rawValue
    isEnabled = permission.isEnabled
    showsTravel = permission.showsTravel
    preAuthorization = permission.preAuthorization
  }

  var permission: Permission {
    Permission(
      authorization: ENAuthorizationStatus(rawValue: authorization) ?? .unknown,
      isEnabled: isEnabled, showsTravel: showsTravel ?? false, preAuthorization: preAuthorization)
  }
}
