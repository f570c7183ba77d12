import './elements/code'
import './elements/help'
import './elements/scheme'
import { listenForShortcuts } from './shortcuts'

listenForShortcuts()
