import './lesson'
import './elements/filter'
import { offerCommands } from './elements/command'

const body = document.getElementById('reference-body')
if (body) offerCommands(body)
