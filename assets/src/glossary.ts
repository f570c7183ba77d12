import './home'
import './elements/filter'
