/// The templates of the pages about phones and keys.
enum AdministrationTemplates {
  static let phones = """
    <h1>{{t.phonesTitle}}</h1>
    <p class="lead">{{t.phonesLead}}</p>
    <p>{{version}}</p>
    \(LayoutTemplate.notices)
    <section class="card" aria-labelledby="pause-title">
    <h2 id="pause-title">{{t.phonesPause}}</h2>
    <p role="status" id="pause-state"><strong>{{pause}}</strong></p>
    <p class="help">{{t.phonesPauseHelp}}</p>
    {{#isPaused}}
    <form method="post" action="/phones/resume">\(LayoutTemplate.token)
    <button id="resume" class="primary">{{t.phonesResumeButton}}</button></form>
    {{/isPaused}}
    {{^isPaused}}
    <form method="post" action="/phones/pause">\(LayoutTemplate.token)
    <label for="hours">{{t.phonesPauseHours}}</label>
    <input id="hours" name="hours" type="number" min="1" max="720" class="short">
    <button id="pause" class="danger">{{t.phonesPauseButton}}</button></form>
    {{/isPaused}}
    </section>
    <section class="card" aria-labelledby="withdraw-title">
    <h2 id="withdraw-title">{{t.phonesWithdraw}}</h2>
    <p class="help">{{t.phonesWithdrawHelp}}</p>
    <form method="post" action="/phones/withdraw">\(LayoutTemplate.token)
    <label for="hash">{{t.phonesHash}}</label>
    <input id="hash" name="hash" type="text" required spellcheck="false" autocomplete="off" class="code">
    <button id="withdraw" class="danger">{{t.phonesWithdrawButton}}</button></form>
    {{#hasWithdrawn}}
    \(LayoutTemplate.wide("withdrawn-caption"))
    <table id="withdrawn"><caption id="withdrawn-caption">{{t.phonesWithdrawnCaption}}</caption>
    <thead><tr><th scope="col">SHA-256</th><th scope="col">{{t.actions}}</th></tr></thead>
    <tbody>
    {{#withdrawn}}
    <tr><th scope="row"><code>{{hash}}</code></th><td>
    <form method="post" action="/phones/restore">\(LayoutTemplate.token)
    <input type="hidden" name="hash" value="{{hash}}">
    <button class="quiet" aria-label="{{t.phonesRestore}}: {{hash}}">{{t.phonesRestore}}</button></form>
    </td></tr>
    {{/withdrawn}}
    </tbody></table></div>
    {{/hasWithdrawn}}
    </section>
    """

  static let keys = """
    <h1>{{t.keysTitle}}</h1>
    \(LayoutTemplate.notices)
    <section class="card" aria-labelledby="signing-title">
    <h2 id="signing-title">{{t.keysSigning}}</h2>
    <p class="help">{{t.keysRotateHelp}}</p>
    {{#servers}}
    \(LayoutTemplate.wide("signing-{{server}}-caption"))
    <table id="signing-{{server}}"><caption id="signing-{{server}}-caption">{{caption}}. {{t.utc}}</caption>
    <thead><tr><th scope="col">{{t.name}}</th><th scope="col">{{t.keysFrom}}</th><th scope="col">{{t.keysUntil}}</th>
    </tr></thead>
    <tbody>
    {{#keys}}
    <tr><th scope="row">{{name}}</th><td class="time">{{from}}</td><td class="time">{{until}}</td></tr>
    {{/keys}}
    </tbody></table></div>
    <form method="post" action="/keys/rotate">\(LayoutTemplate.token)
    <input type="hidden" name="server" value="{{server}}">
    <button id="rotate-{{server}}" aria-label="{{t.keysRotate}}: {{caption}}">{{t.keysRotate}}</button></form>
    {{/servers}}
    </section>
    <section class="card" aria-labelledby="api-title">
    <h2 id="api-title">{{t.keysAPI}}</h2>
    \(LayoutTemplate.wide("api-keys-caption"))
    <table id="api-keys"><caption id="api-keys-caption">{{t.keysAPICaption}}</caption>
    <thead><tr><th scope="col">{{t.keysHolder}}</th><th scope="col">{{t.keysKind}}</th><th scope="col">{{t.status}}</th>
    <th scope="col">{{t.actions}}</th></tr></thead>
    <tbody>
    {{#apiKeys}}
    <tr><th scope="row">{{name}} <code>{{id}}</code></th><td>{{kind}}</td><td>{{state}}</td><td>
    {{#isActive}}<form method="post" action="/keys/api/revoke">\(LayoutTemplate.token)
    <input type="hidden" name="id" value="{{id}}">
    <button class="quiet" aria-label="{{t.keysRevoke}}: {{name}}">{{t.keysRevoke}}</button></form>{{/isActive}}
    </td></tr>
    {{/apiKeys}}
    </tbody></table></div>
    <form method="post" action="/keys/api" aria-labelledby="add-api-title">
    <h3 id="add-api-title">{{t.keysAddAPI}}</h3>
    \(LayoutTemplate.token)
    <label for="api-name">{{t.keysHolder}}</label>
    <input id="api-name" name="name" type="text" required maxlength="64" autocomplete="off">
    <fieldset><legend>{{t.keysKind}}</legend>
    <label class="choice"><input type="radio" name="kind" value="device" required> {{t.keysKindDevice}}</label>
    <label class="choice"><input type="radio" name="kind" value="admin" required> {{t.keysKindAdmin}}</label>
    <label class="choice"><input type="radio" name="kind" value="stats" required> {{t.keysKindStats}}</label>
    </fieldset>
    <button id="add-api-key">{{t.keysAdd}}</button>
    </form>
    </section>
    \(authorities)
    \(apps)
    """

  private static let authorities = """
    <section class="card" aria-labelledby="authorities-title">
    <h2 id="authorities-title">{{t.keysAuthorities}}</h2>
    \(LayoutTemplate.wide("authorities-caption"))
    <table id="authorities"><caption id="authorities-caption">{{t.keysAuthoritiesCaption}}</caption>
    <thead><tr><th scope="col">{{t.keysAuthorityIssuer}}</th><th scope="col">{{t.keysAuthorityAudience}}</th>
    <th scope="col">{{t.keysAuthorityKeyID}}</th></tr></thead>
    <tbody>
    {{#authorities}}
    <tr><th scope="row"><code>{{issuer}}</code></th><td><code>{{audience}}</code></td><td>{{keyIDs}}</td></tr>
    {{/authorities}}
    {{^authorities}}<tr><td colspan="3">{{t.none}}</td></tr>{{/authorities}}
    </tbody></table></div>
    <form method="post" action="/keys/authorities" aria-labelledby="add-authority-title">
    <h3 id="add-authority-title">{{t.keysAddAuthority}}</h3>
    \(LayoutTemplate.token)
    <label for="issuer">{{t.keysAuthorityIssuer}}</label>
    <input id="issuer" name="issuer" type="text" required autocomplete="off">
    <label for="audience">{{t.keysAuthorityAudience}}</label>
    <input id="audience" name="audience" type="text" required autocomplete="off">
    <label for="key-id">{{t.keysAuthorityKeyID}}</label>
    <input id="key-id" name="key-id" type="text" required autocomplete="off">
    <label for="pem">{{t.keysAuthorityPEM}}</label>
    <textarea id="pem" name="pem" rows="5" required spellcheck="false"></textarea>
    <button id="add-authority">{{t.keysAdd}}</button>
    </form>
    </section>
    """

  private static let apps = """
    <section class="card" aria-labelledby="apps-title">
    <h2 id="apps-title">{{t.keysApps}}</h2>
    \(LayoutTemplate.wide("apps-caption"))
    <table id="apps"><caption id="apps-caption">{{t.keysAppsCaption}}</caption>
    <thead><tr><th scope="col">{{t.keysApp}}</th><th scope="col">{{t.keysRegions}}</th>
    <th scope="col">{{t.keysAuthoritiesOfApp}}</th></tr></thead>
    <tbody>
    {{#apps}}
    <tr><th scope="row"><code>{{id}}</code></th><td>{{regions}}</td><td><code>{{issuers}}</code></td></tr>
    {{/apps}}
    {{^apps}}<tr><td colspan="3">{{t.none}}</td></tr>{{/apps}}
    </tbody></table></div>
    <form method="post" action="/keys/apps" aria-labelledby="add-app-title">
    <h3 id="add-app-title">{{t.keysAddApp}}</h3>
    \(LayoutTemplate.token)
    <label for="app">{{t.keysApp}}</label>
    <input id="app" name="app" type="text" required autocomplete="off">
    <label for="regions">{{t.keysRegions}}</label>
    <input id="regions" name="regions" type="text" required autocomplete="off">
    <label for="app-authorities">{{t.keysAuthoritiesOfApp}}</label>
    <input id="app-authorities" name="authorities" type="text" required autocomplete="off">
    <button id="add-app">{{t.keysAdd}}</button>
    </form>
    </section>
    """

  static let secret = """
    <h1>{{title}}</h1>
    <p class="notice">{{t.shownOnce}}</p>
    <p class="secret" id="secret">{{secret}}</p>
    <p><a class="button" href="/keys">{{t.back}}</a></p>
    """
}
