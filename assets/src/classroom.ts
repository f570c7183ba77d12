import './plain'
import './elements/classroom'
import './elements/notices'

document.body.append(document.createElement('apilab-notices'))
