/// The templates of the funnel, the exports and the remote configuration.
enum ObservationTemplates {
  static let funnel = """
    <h1>{{t.funnelTitle}}</h1>
    <p class="lead">{{lead}}</p>
    {{#isEmpty}}<p>{{t.funnelEmpty}}</p>{{/isEmpty}}
    {{^isEmpty}}
    <div class="wide picture">{{{chart}}}</div>
    <ul class="legend">
    {{#legend}}<li><svg viewBox="0 0 16 16" aria-hidden="true">\
    <rect class="bar series-{{number}}" width="16" height="16"/></svg> {{name}}</li>{{/legend}}
    </ul>
    <div class="wide"><table id="funnel"><caption>{{t.funnelCaption}}. {{t.utc}}</caption>
    <thead><tr><th scope="col">{{t.date}}</th><th scope="col">{{t.funnelIssued}}</th>
    <th scope="col">{{t.funnelRedeemed}}</th><th scope="col">{{t.funnelUploads}}</th>
    <th scope="col">{{t.funnelPublished}}</th></tr></thead>
    <tbody>
    {{#days}}
    <tr><th scope="row">{{day}}</th><td>{{issued}}</td><td>{{redeemed}}</td><td>{{uploads}}</td>\
    <td>{{published}}</td></tr>
    {{/days}}
    </tbody></table></div>
    {{/isEmpty}}
    """

  static let exports = """
    <h1>{{t.exportsTitle}}</h1>
    {{#exports}}
    <section aria-label="{{name}}">
    <h2>{{name}}</h2>
    <p>{{next}}</p>
    {{#hasFiles}}
    <div class="wide"><table class="files"><caption>{{t.exportsCaption}}. {{t.utc}}</caption>
    <thead><tr><th scope="col">{{t.exportsFile}}</th><th scope="col">{{t.keysUntil}}</th>
    <th scope="col">{{t.exportsBytes}}</th><th scope="col">{{t.exportsKeys}}</th>
    <th scope="col">{{t.exportsSignature}}</th><th scope="col">SHA-256</th></tr></thead>
    <tbody>
    {{#files}}
    <tr><th scope="row">{{name}}</th><td>{{end}}</td><td>{{bytes}}</td><td>{{keys}}</td><td>{{signature}}</td>
    <td><code>{{hash}}</code></td></tr>
    {{/files}}
    </tbody></table></div>
    {{/hasFiles}}
    {{^hasFiles}}<p>{{t.exportsNone}}</p>{{/hasFiles}}
    </section>
    {{/exports}}
    """

  static let configuration = """
    <h1>{{t.configurationTitle}}</h1>
    <p class="lead">{{t.configurationLead}}</p>
    \(LayoutTemplate.notices)
    <h2>{{t.configurationOpen}}</h2>
    {{#hasOpen}}
    {{#open}}
    <section class="card" aria-label="{{by}}">
    <p><strong>{{by}}</strong></p>
    <p>{{reason}}</p>
    <h3>{{t.configurationChanges}}</h3>
    <pre class="changes">{{changes}}</pre>
    {{#isStale}}<p class="fault">{{t.configurationStale}}</p>{{/isStale}}
    {{#isOwn}}<p>{{t.configurationOwn}}</p>{{/isOwn}}
    <div class="actions">
    {{#canApprove}}
    <form method="post" action="/configuration/{{id}}/approve">\(LayoutTemplate.token)
    <button id="approve-{{id}}" class="primary">{{t.configurationApprove}}</button></form>
    {{/canApprove}}
    <form method="post" action="/configuration/{{id}}/reject">\(LayoutTemplate.token)
    <button id="reject-{{id}}">{{t.configurationReject}}</button></form>
    </div>
    </section>
    {{/open}}
    {{/hasOpen}}
    {{^hasOpen}}<p>{{t.configurationNoOpen}}</p>{{/hasOpen}}
    <form method="post" action="/configuration/preview" class="card" aria-labelledby="edit-title">
    <h2 id="edit-title">{{current}}</h2>
    \(LayoutTemplate.token)
    <label for="document">{{t.configurationDocument}}</label>
    <textarea id="document" name="document" rows="24" spellcheck="false">{{document}}</textarea>
    <label for="reason">{{t.configurationReason}}</label>
    <textarea id="reason" name="reason" rows="2" required>{{reason}}</textarea>
    <button id="preview" class="primary">{{t.configurationPreview}}</button>
    </form>
    {{#hasHistory}}
    <h2>{{t.configurationHistory}}</h2>
    <div class="wide"><table id="history"><caption>{{t.configurationHistoryCaption}}. {{t.utc}}</caption>
    <thead><tr><th scope="col">{{t.time}}</th><th scope="col">{{t.configurationReason}}</th>
    <th scope="col">{{t.configurationDecision}}</th></tr></thead>
    <tbody>
    {{#history}}<tr><td>{{time}}</td><td>{{by}}<br>{{reason}}</td><td>{{decision}}</td></tr>{{/history}}
    </tbody></table></div>
    {{/hasHistory}}
    """

  static let preview = """
    <h1>{{t.configurationPreviewTitle}}</h1>
    <p class="lead">{{t.configurationPreviewLead}}</p>
    {{#effect}}
    <table id="effect"><caption>{{t.configurationEffectCaption}}</caption>
    <thead><tr><th scope="col">{{t.status}}</th><th scope="col">{{t.configurationNone}}</th>
    <th scope="col">{{t.configurationLow}}</th><th scope="col">{{t.configurationHigh}}</th></tr></thead>
    <tbody>
    {{#rows}}<tr><th scope="row">{{name}}</th><td>{{none}}</td><td>{{low}}</td><td>{{high}}</td></tr>{{/rows}}
    </tbody></table>
    {{/effect}}
    {{#noEffect}}<p class="help">{{noEffect}}</p>{{/noEffect}}
    <h2>{{t.configurationChanges}}</h2>
    <pre class="changes" id="changes">{{changes}}</pre>
    <form method="post" action="/configuration/propose" class="card">
    \(LayoutTemplate.token)
    <input type="hidden" name="document" value="{{document}}">
    <label for="reason">{{t.configurationReason}}</label>
    <textarea id="reason" name="reason" rows="2" required>{{reason}}</textarea>
    <div class="actions"><button id="propose" class="primary">{{t.configurationPropose}}</button>
    <a class="button" href="/configuration">{{t.back}}</a></div>
    </form>
    """
}
